/// A file of the operating system as a store.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "store/posix/descriptor.hpp"
#include "store/posix/direct_reads.hpp"
#include "store/posix/identity.hpp"
#include "store/posix/recorded_file.hpp"
#include "store/store.hpp"

namespace plait::store::posix {

/// A file that is read and written through the page cache; large reads of uncached bytes bypass the cache if that is
/// faster (DirectReads). Once a read has found bytes that are not cached, submit_read() hints to the kernel to read
/// ahead (posix_fadvise) for requests that cannot bypass the cache, so that the disk works while the caller does
/// something else. For cached bytes this hint would cost 5 us per MiB without benefit. A submitted write is in the page
/// cache when it completes.
/// Segments that are adjacent in the file are transferred by one call, regardless of their memory addresses.
class PosixStore : public Store {
 public:
  enum class Access : std::uint8_t { kRead, kReadWrite };

  /// Minimum size of a read for which the read-ahead hint is worth its cost.
  static constexpr std::int64_t kMinReadAhead = std::int64_t{256} << 10;

  /// Opens a file. min_read_ahead: minimum size in bytes of reads that start the kernel's read-ahead.
  /// errors  kSystem: the file cannot be opened, or has no bytes at offsets (a folder, a pipe). kArgument:
  ///         PLAIT_DIRECT_IO is none of its values.
  PosixStore(std::string path, Access access, std::int64_t min_read_ahead = kMinReadAhead);

  /// Takes ownership of a regular file that is open for reading and writing.
  PosixStore(std::string path, Descriptor file)
      : path_(std::move(path)),
        file_(std::move(file)),
        min_read_ahead_(kMinReadAhead),
        direct_(file_, DirectIo::kNever) {}

  const std::string& name() const override { return path_; }
  std::string description() const override { return direct_.description(); }
  bool is_cold() override { return direct_.is_cold(opened_.identity.bytes); }
  std::int64_t size() override;
  /// Returns the identity of the open file, even if its name belongs to another one by now.  errors  kSystem.
  Identity identity() const { return read_identity(file_.number(), path_); }
  /// Returns the identity that the file had when it was opened by its path.
  const Identity& opened_identity() const { return opened_.identity; }
  std::optional<Identity> file_identity() const override { return identity(); }
  std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) override;
  std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) override;
  void sync() override;
  /// Makes the kernel begin to write changed pages, so that later calls of sync() for several files overlap.
  void start_sync() noexcept;

 private:
  std::string path_;
  Descriptor file_;
  FileStatus opened_;
  std::int64_t min_read_ahead_;
  RecordedFile recorded_{path_};
  std::atomic<bool> has_found_cold_{false};  // true once a read has found bytes that are not cached
  DirectReads direct_;
};

}  // namespace plait::store::posix
