/// Large reads past the page cache (O_DIRECT).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/read_choice.hpp"
#include "store/posix/recorded_file.hpp"

namespace plait::store::posix {

enum class DirectIo : std::uint8_t {
  kAutomatic,  ///< where it is measured to be faster, for what is read for the first time
  kNever,
  kAlways,  ///< wherever the file system can
};

/// What PLAIT_DIRECT_IO says; automatic where it is not set.
/// errors  kArgument: it is none of auto, never and always.
DirectIo direct_io_setting();

/// Reads of one file that go from the disk into memory without the page cache, by way of a stage of one large page:
/// a disk's request of 1 MiB into 256 small pages has 256 parts, and takes twice as long as one of a single part.  That
/// the stage is copied from costs what copying out of the page cache would; pages of that need not be found and cleared.
///
/// The page cache stays right: callers look there first, and the kernel writes changed pages before it reads past them.
/// What is cached the system tells to those who may write a file (cachestat, Linux 6.5); others read through the cache.
/// threads  Any.
class DirectReads {
 public:
  /// Smaller requests take longer than they would save.
  static constexpr std::int64_t kLeast = std::int64_t{256} << 10;
  /// Room of the stage; a process's requests hold one each.
  static constexpr std::int64_t kStage = std::int64_t{2} << 20;

  /// `file` outlives this.
  DirectReads(const Descriptor& file, DirectIo setting) : file_(file), setting_(setting) {}

  /// Whether there is any use in asking about requests of so many bytes.
  bool serves(std::int64_t bytes) const { return setting_ != DirectIo::kNever && able_ && bytes >= kLeast; }
  /// Whether most of a file of so many bytes is not cached, and could be read past the cache.
  /// cost  10 us
  bool is_cold(std::int64_t file_bytes) const;
  /// Whether less than half of a stretch is cached, and nothing of it changed.  Reads nothing, and does not make the
  /// kernel read ahead, as a read that would not wait does.
  /// cost  0.5 us; 8 us for a MiB that is cached where the last one was not.
  bool is_cold(std::int64_t offset, std::int64_t bytes);
  /// Whether a request for cold bytes is to go past the cache; the caller says what it took.
  bool wanted(std::int64_t offset, std::int64_t bytes);
  void learn(bool past, const ReadChoice::Cost& cost, std::int64_t bytes);

  /// Calls `take(bytes before it, data, bytes)` for one piece after another, and returns how many bytes that were: fewer
  /// where the file ends or a request fails, which an ordinary read will tell more about.
  std::int64_t read(std::int64_t offset, std::int64_t bytes, RecordedFile& recorded,
                    base::FunctionRef<void(std::int64_t, const std::byte*, std::int64_t)> take);

  /// What has been found out, in words; empty where there is nothing to tell.
  std::string description() const;

 private:
  /// Whether direct requests are possible.
  bool open();
  std::int64_t read_into(std::byte* stage, std::int64_t offset, std::int64_t bytes, RecordedFile& recorded);
  /// Remembers that a stretch has been read; returns whether none of it was before.
  bool is_first(std::int64_t offset, std::int64_t bytes);

  const Descriptor& file_;
  DirectIo setting_;
  std::once_flag opened_;
  Descriptor direct_;
  std::int64_t unit_ = 0;         // offsets and sizes of requests are multiples of this
  std::atomic<bool> able_{true};  // nothing has been refused
  std::atomic<bool> met_{false};  // the last stretch was not cached as a whole
  bool outgrows_memory_ = false;  // too large a file to be kept in memory
  std::atomic<ReadChoice*> choice_{nullptr};
  std::mutex mutex_;
  std::vector<bool> read_;  // by blocks of kLeast that begin in a stretch
};

}  // namespace plait::store::posix
