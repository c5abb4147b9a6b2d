/// Fetched bytes in files of a folder on a local disk, which any number of processes share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "store/cache/cache_options.hpp"

namespace plait::store::cache {

/// A cache of entries: bytes under names made by entry_name(). An entry may be removed at any time, also by other
/// processes; the bytes of an entry that is returned are complete and undamaged.
/// threads  Any number at once.
class Folder {
 public:
  /// Returns the folder of this process; nullptr if there is no space for it on the disk.
  /// errors  kSystem: it cannot be made, is not writable, or can be changed by other users.
  static std::shared_ptr<Folder> open(const Options& options);

  explicit Folder(Options options) : options_(std::move(options)) {}

  /// Reads the bytes of an entry, which must be as many as `into` has. Returns false if there is no such entry, or if
  /// it is damaged; a damaged entry is removed.
  bool load(const std::string& entry, std::span<std::byte> into);
  /// Returns true if there is an entry, which may be damaged.
  bool contains(const std::string& entry) const;
  /// Reads an entry of at most kMaxTextBytes bytes. Returns nothing if there is none, or if it is damaged.
  std::optional<std::string> load_text(const std::string& entry);
  /// Adds or replaces an entry. If that fails, for example because the disk is full, there is no entry and no error.
  void store(const std::string& entry, std::span<const std::byte> bytes) noexcept;

  static constexpr std::int64_t kMaxTextBytes = 4096;
  /// Maximum number of bytes of an entry; store() ignores longer ones.
  static constexpr std::int64_t kMaxEntryBytes = std::int64_t{1} << 30;

 private:
  using Clock = std::chrono::steady_clock;

  std::string entry_path(const std::string& entry) const;
  /// Writes the file of an entry. Returns an errno, 0 for success.
  int write_file(const std::string& entry, std::span<const std::byte> bytes) const;
  /// Adds the bytes of a new file to the sum, and calls evict() if that may exceed the limit.
  void add_to_total(std::int64_t bytes);
  /// Counts the bytes of all files on the disk, and removes the least recently used ones if they exceed the limit.
  void evict();

  Options options_;
  std::mutex mutex_;
  std::int64_t counted_bytes_ = -1;  // bytes of all files on the disk at the last count; -1: not counted yet
  std::int64_t added_bytes_ = 0;     // bytes that this process has added since
  std::atomic<Clock::duration::rep> paused_until_{0};
};

/// Returns the name of the entry for a key of any length.
std::string entry_name(const std::string& key);

}  // namespace plait::store::cache
