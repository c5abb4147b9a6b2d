/// Files that are made anew while others see the former ones.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "store/posix/descriptor.hpp"

namespace plait::container::zarr {

/// A folder in that of an array, `.plait-changes`, has one for each process that makes files, where no reader looks and
/// which is short to list however many chunks there are.  A process holds a lock on its own; the next one that makes
/// files removes those of this host whose process has gone, and those of any host that are abandoned.
/// threads  Any number at once.
class Replacements {
 public:
  /// folder: of the array; this outlives it.
  explicit Replacements(const std::string& folder) : array_(folder) {}
  ~Replacements() { clear(); }
  Replacements(const Replacements&) = delete;
  Replacements& operator=(const Replacements&) = delete;

  /// An empty file that nobody else has, with the permissions of `file` where that is there.  errors  kSystem.
  std::string make(const std::string& file);
  /// Removes what has been made and not been renamed.
  void clear() noexcept;

 private:
  void make_folder();

  const std::string& array_;
  std::mutex mutex_;
  std::string folder_;  // of this process; empty: there is none
  store::posix::Descriptor lock_;
  std::int64_t next_ = 0;
  bool looked_ = false;  // for what others have left
};

/// Locks by which programs that change an array give names to its files one after the other.  Where the metadata cannot
/// be locked, nobody waits for anybody.
class NamingLocks {
 public:
  /// metadata: the array's file of that.
  explicit NamingLocks(const std::string& metadata);
  /// While it lives, no other program gives a name to the file of that number.
  class Held {
   public:
    Held(const NamingLocks& locks, std::int64_t number);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    const NamingLocks& locks_;
    std::int64_t number_;
  };

 private:
  store::posix::Descriptor metadata_;
};

}  // namespace plait::container::zarr
