/// Large reads that bypass the page cache (O_DIRECT).
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
  kAutomatic,  ///< if it is measured to be faster, for bytes that are read for the first time
  kNever,
  kAlways,  ///< whenever the file system supports it
};

/// Returns the setting PLAIT_DIRECT_IO; automatic if it is not set.
/// errors  kArgument: it is none of auto, never and always.
DirectIo direct_io_setting();

/// Reads one file from the disk without the page cache, through a staging buffer of one large page. A disk request of
/// 1 MiB into 256 small pages has 256 parts, and takes twice as long as one with a single part. Copying out of the
/// staging buffer costs as much as copying out of the page cache, but the kernel need not allocate and clear cache
/// pages.
///
/// The bytes are current: callers check the page cache first, and the kernel writes changed pages of a range before a
/// direct read of it. The system reports cached pages only to users who may write the file (cachestat, Linux 6.5);
/// other users read through the cache.
/// threads  Any.
class DirectReads {
 public:
  /// Minimum size of a direct request; smaller ones take longer than they save.
  static constexpr std::int64_t kMinBytes = std::int64_t{256} << 10;
  /// Size of the staging buffer. Each request of a process in progress has one.
  static constexpr std::int64_t kStageBytes = std::int64_t{2} << 20;

  /// `file` must outlive the object.
  DirectReads(const Descriptor& file, DirectIo setting) : file_(file), setting_(setting) {}

  /// Returns true if requests of this size may benefit from bypassing the cache, so that is_cold() is worth its cost.
  /// Bytes are called cold if they are not in the page cache.
  bool may_benefit(std::int64_t bytes) const { return setting_ != DirectIo::kNever && is_able_ && bytes >= kMinBytes; }
  /// Returns true if most of a file of this size is not cached, and could be read past the cache.
  /// cost    10 us
  bool is_cold(std::int64_t file_bytes) const;
  /// Returns true if less than half of a range is cached, and none of its cached pages has changed. Reads nothing, and
  /// unlike a read with RWF_NOWAIT does not start the kernel's read-ahead.
  /// cost    0.5 us; 8 us for a cached MiB if the last range was not cached.
  bool is_cold(std::int64_t offset, std::int64_t bytes);
  /// Returns true if a request for cold bytes should bypass the cache. The caller reports its cost to learn().
  bool should_bypass(std::int64_t offset, std::int64_t bytes);
  /// Records the cost of a request for cold bytes. is_bypassing: true if it bypassed the cache.
  void learn(bool is_bypassing, const ReadChoice::Cost& cost, std::int64_t bytes);

  /// Reads a range, and calls `take(bytes before the piece, data, bytes)` for one piece after another, which copies it
  /// out of the staging buffer. Returns the number of bytes, which is smaller than requested if the file ends or a
  /// request fails; the caller then reads the rest in the ordinary way, which reports the error.
  std::int64_t read(std::int64_t offset, std::int64_t bytes, RecordedFile& recorded,
                    base::FunctionRef<void(std::int64_t, const std::byte*, std::int64_t)> take);

  /// Describes the measurements; empty if there are none.
  std::string description() const;

 private:
  /// Opens the file for direct requests. Returns false if they are not possible.
  bool open();
  std::int64_t read_into(std::byte* staging, std::int64_t offset, std::int64_t bytes, RecordedFile& recorded);
  /// Records that a range is read. Returns true if no part of it had been read before.
  bool mark_first_read(std::int64_t offset, std::int64_t bytes);

  const Descriptor& file_;
  DirectIo setting_;
  std::once_flag opened_;
  Descriptor direct_;
  std::int64_t unit_ = 0;                 // offsets and sizes of direct requests are multiples of this
  std::atomic<bool> is_able_{true};       // false once a direct request, or a query of the cache, has failed
  std::atomic<bool> may_be_cold_{false};  // true if the last range was not completely cached
  bool outgrows_memory_ = false;          // the file is too large to stay in memory
  std::atomic<ReadChoice*> choice_{nullptr};
  std::mutex mutex_;
  std::vector<bool> is_block_read_;  // for each kMinBytes bytes of the file, true if their first byte has been read
};

}  // namespace plait::store::posix
