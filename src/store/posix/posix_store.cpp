// Reads and writes of a file: joining segments, and choosing a path for each part of a large read.
//
// Consecutive segments of a batch that are adjacent in the file form one request: preadv2() scatters it to their
// addresses.
// Example: segments (offset 0, 100 bytes), (100, 50), (400, 10) are two requests, of 150 and of 10 bytes.
//
// Large requests are divided into slices that end at multiples of 2 MiB of the file. Each slice that is not cached is
// one request, through the page cache or past it, so that the costs of both paths can be compared (ReadChoice).
// Neighbouring cached slices are joined to one request.
// Example: a request of 5 MiB at offset 1 MiB has the slices [1, 2), [2, 4) and [4, 6) MiB. If only [2, 4) is cached,
// ReadChoice decides how [1, 2) and [4, 6) are read, and [2, 4) is read through the cache. Slices shorter than 256 KiB
// are joined with a neighbour.

#include "store/posix/posix_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <span>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store::posix {

namespace {

/// Maximum number of memory segments that Linux accepts in one call.
constexpr std::size_t kMaxParts = IOV_MAX;

/// Consecutive segments of a batch that are adjacent in the file, so that one call can transfer them.
template <typename Segment>
struct Request {
  std::span<const Segment> segments;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Calls visit(Request) for all segments in order.
template <typename Segment, typename Handler>
void for_each_request(const std::vector<Segment>& segments, Handler&& handle) {
  for (std::size_t first = 0; first < segments.size();) {
    const std::int64_t offset = segments[first].offset;
    std::int64_t bytes = segments[first].bytes;
    std::size_t next = first + 1;
    while (next < segments.size() && next - first < kMaxParts && segments[next].offset - bytes == offset)
      bytes += segments[next++].bytes;
    handle(Request<Segment>{std::span(segments).subspan(first, next - first), offset, bytes});
    first = next;
  }
}

/// Returns the memory segments, in `parts`, for the bytes of a request from `begin` to `end`, as far as one call can
/// transfer them.
template <typename Segment>
std::span<const iovec> memory_parts(const Request<Segment>& request, std::int64_t begin, std::int64_t end,
                                    std::array<iovec, kMaxParts>& parts) {
  std::size_t count = 0;
  std::int64_t to_skip = begin;
  std::int64_t remaining = std::min(end - begin, kMaxBytesPerCall);
  for (const Segment& segment : request.segments) {
    const std::int64_t skipped = std::min(to_skip, segment.bytes);
    const std::int64_t bytes = std::min(segment.bytes - skipped, remaining);
    to_skip -= skipped;
    remaining -= bytes;
    if (bytes > 0) parts[count++] = {const_cast<std::byte*>(segment.data) + skipped, static_cast<std::size_t>(bytes)};
  }
  return {parts.data(), count};
}

/// A part of a request: the bytes from `begin` to `end`, relative to the beginning of the request.
struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t bytes() const { return end - begin; }
};

/// Reads a part of a request by one call, which may read less. Returns what preadv2() returns.
ssize_t read_some(int file, const Request<ReadSegment>& request, ByteRange range, int flags) {
  std::array<iovec, kMaxParts> buffer;
  const auto parts = memory_parts(request, range.begin, range.end, buffer);
  // The plain call is slightly cheaper, and many requests have only a few bytes.
  if (flags == 0 && parts.size() == 1)
    return ::pread(file, parts[0].iov_base, parts[0].iov_len, request.offset + range.begin);
  return ::preadv2(file, parts.data(), static_cast<int>(parts.size()), request.offset + range.begin, flags);
}

/// Writes a part of a request, from `done` on, by one call, which may write less. Returns what pwritev() returns.
ssize_t write_some(int file, const Request<WriteSegment>& request, std::int64_t done) {
  std::array<iovec, kMaxParts> buffer;
  const auto parts = memory_parts(request, done, request.bytes, buffer);
  if (parts.size() == 1) return ::pwrite(file, parts[0].iov_base, parts[0].iov_len, request.offset + done);
  return ::pwritev(file, parts.data(), static_cast<int>(parts.size()), request.offset + done);
}

/// An open file of a store.
struct OpenFile {
  const std::string& path;
  int descriptor;
  RecordedFile& recorded;
};

/// Measures the elapsed time, and the processor time of this thread, since it was made.
class RequestTimer {
 public:
  ReadChoice::Cost elapsed() const {
    return {seconds(CLOCK_MONOTONIC) - begin_.seconds, seconds(CLOCK_THREAD_CPUTIME_ID) - begin_.processor_seconds};
  }

 private:
  static double seconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  ReadChoice::Cost begin_{seconds(CLOCK_MONOTONIC), seconds(CLOCK_THREAD_CPUTIME_ID)};
};

/// State that all reads of a file share.
struct ReadSettings {
  std::int64_t min_read_ahead;
  std::atomic<bool>& has_found_cold;  // true once a read has found bytes that are not in the page cache
  DirectReads& direct;
};

class PendingRead : public Pending {
 public:
  PendingRead(const OpenFile& file, const ReadSettings& reading, std::vector<ReadSegment> segments)
      : file_(file), reading_(reading), segments_(std::move(segments)) {
    if (!reading_.has_found_cold) return;
    for_each_request(segments_, [this](const Request<ReadSegment>& request) {
      if (!reading_.direct.may_benefit(request.bytes)) start_read_ahead(request, {0, request.bytes});
    });
  }

  void complete() override {
    for_each_request(segments_, [this](const Request<ReadSegment>& request) { read(request); });
  }

 private:
  void start_read_ahead(const Request<ReadSegment>& request, ByteRange range) const {
    if (range.bytes() >= reading_.min_read_ahead)
      ::posix_fadvise(file_.descriptor, request.offset + range.begin, range.bytes(), POSIX_FADV_WILLNEED);
  }
  /// Reads a part of a request by one system call, and records it in the trace.
  ssize_t call_read(const Request<ReadSegment>& request, ByteRange range, int flags) {
    return record_call(file_.recorded, {PLAIT_EVENT_READ, request.offset + range.begin, range.bytes(), flags != 0},
                       [&] { return read_some(file_.descriptor, request, range, flags); });
  }
  void read(const Request<ReadSegment>& request) {
    if (reading_.direct.may_benefit(request.bytes)) {
      read_slices(request);
    } else {
      read_through_page_cache(request, {0, request.bytes});
    }
  }
  /// Reads through the page cache, with the read-ahead hint if some bytes are not cached.
  void read_through_page_cache(const Request<ReadSegment>& request, ByteRange range) {
    if (range.bytes() >= reading_.min_read_ahead && !reading_.has_found_cold) {
      // Read the leading bytes that are cached. The hint is worth its cost only if not all bytes are cached.
      const std::int64_t max_cached = std::min(range.bytes(), kMaxBytesPerCall);
      const std::int64_t cached = std::max<ssize_t>(call_read(request, range, RWF_NOWAIT), 0);
      range.begin += cached;
      if (cached < max_cached) {
        reading_.has_found_cold = true;
        start_read_ahead(request, range);
      }
    }
    read_until_complete(request, range);
  }
  /// Reads a large request in slices. The path is chosen for each slice, because a part of the request may be cached,
  /// and so that both paths are tried. Neighbouring slices that are cached are joined to one request.
  void read_slices(const Request<ReadSegment>& request) {
    constexpr std::int64_t kSlice = DirectReads::kStageBytes;
    std::int64_t unread = 0;  // begin of the cached slices before `begin` that have not been read yet
    for (std::int64_t begin = 0; begin < request.bytes;) {
      // All slices but the first begin at a multiple of kSlice in the file, which suits the blocks of disks.
      std::int64_t end = ((request.offset + begin) / kSlice + 1) * kSlice - request.offset;
      if (end - begin < DirectReads::kMinBytes) end += kSlice;
      if (request.bytes - end < DirectReads::kMinBytes || request.bytes - begin <= kSlice / 2) end = request.bytes;
      if (end - begin >= DirectReads::kMinBytes && reading_.direct.is_cold(request.offset + begin, end - begin)) {
        if (unread < begin) read_through_page_cache(request, {unread, begin});
        read_cold(request, {begin, end});
        unread = end;
      }
      begin = end;
    }
    if (unread < request.bytes) read_through_page_cache(request, {unread, request.bytes});
  }
  /// Reads a slice that is not cached, through the page cache or past it, and reports its cost to ReadChoice.
  void read_cold(const Request<ReadSegment>& request, ByteRange range) {
    const std::int64_t offset = request.offset + range.begin;
    const RequestTimer timer;
    ByteRange remaining = range;
    const bool is_bypassing = reading_.direct.should_bypass(offset, range.bytes());
    if (is_bypassing) {
      const auto take = [&](std::int64_t before, const std::byte* data, std::int64_t bytes) {
        scatter(request, {range.begin + before, range.begin + before + bytes}, data);
      };
      remaining.begin += reading_.direct.read(offset, range.bytes(), file_.recorded, take);
    } else {
      start_read_ahead(request, range);
    }
    read_until_complete(request, remaining);
    reading_.direct.learn(is_bypassing, timer.elapsed(), range.bytes());
  }
  /// Copies data to the addresses of a part of a request.
  void scatter(const Request<ReadSegment>& request, ByteRange range, const std::byte* data) {
    std::array<iovec, kMaxParts> buffer;
    for (const iovec& part : memory_parts(request, range.begin, range.end, buffer)) {
      std::memcpy(part.iov_base, data, part.iov_len);
      data += part.iov_len;
    }
  }
  /// Calls read until all bytes of a part are read, and throws if that fails.
  void read_until_complete(const Request<ReadSegment>& request, ByteRange range) {
    while (range.begin < range.end) {
      const ssize_t count = call_read(request, range, 0);
      if (count > 0) {
        range.begin += count;
      } else if (count == 0) {
        base::throw_system_error(0, "cannot read ", file_.path, " at offset ", request.offset + range.begin,
                                 ": the file ends there, but ", request.bytes - range.begin,
                                 " more bytes were expected; it has been truncated");
      } else if (errno != EINTR) {
        throw system_error(base::text("read ", file_.path, " at offset ", request.offset + range.begin), errno);
      }
    }
  }

  OpenFile file_;
  ReadSettings reading_;
  std::vector<ReadSegment> segments_;
};

class PendingWrite : public Pending {
 public:
  PendingWrite(const OpenFile& file, std::vector<WriteSegment> segments)
      : file_(file), segments_(std::move(segments)) {}

  void complete() override {
    for_each_request(segments_, [this](const Request<WriteSegment>& request) { write(request); });
  }

 private:
  void write(const Request<WriteSegment>& request) {
    for (std::int64_t done = 0; done < request.bytes;) {
      const ssize_t count =
          record_call(file_.recorded, {PLAIT_EVENT_WRITE, request.offset + done, request.bytes - done},
                      [&] { return write_some(file_.descriptor, request, done); });
      if (count > 0) {
        done += count;
      } else if (count == 0) {
        throw system_error(base::text("write ", file_.path, " at offset ", request.offset + done), EIO);
      } else if (errno != EINTR) {
        throw system_error(base::text("write ", file_.path, " at offset ", request.offset + done), errno);
      }
    }
  }

  OpenFile file_;
  std::vector<WriteSegment> segments_;
};

}  // namespace

std::uint32_t RecordedFile::number() {
  std::call_once(once_, [this] { number_ = base::recorded_name(path_); });
  return number_;
}

PosixStore::PosixStore(std::string path, Access access, std::int64_t min_read_ahead)
    // O_NONBLOCK, because opening a pipe would wait for its other end; it has no effect on regular files.
    : path_(std::move(path)),
      file_(open_file(path_, (access == Access::kRead ? O_RDONLY : O_RDWR) | O_NONBLOCK)),
      opened_(read_file_status(file_.number(), path_)),
      min_read_ahead_(min_read_ahead),
      // A caller that sets its own read-ahead (StripedStore) reads several files at the same time. Direct reads would
      // run one after another, so do not use them.
      direct_(file_, min_read_ahead == kMinReadAhead ? direct_io_setting() : DirectIo::kNever) {
  if (S_ISDIR(opened_.mode)) throw system_error(base::text("open ", path_), EISDIR);
  if (!S_ISREG(opened_.mode) && !S_ISBLK(opened_.mode))
    base::throw_system_error(ESPIPE, "cannot open ", path_,
                             ": it is not a regular file; a file with bytes at "
                             "offsets is needed");
}

std::int64_t PosixStore::size() {
  const off_t end = ::lseek(file_.number(), 0, SEEK_END);
  if (end < 0) throw system_error(base::text("inspect ", path_), errno);
  return end;
}

std::unique_ptr<Pending> PosixStore::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingRead>(OpenFile{path_, file_.number(), recorded_},
                                       ReadSettings{min_read_ahead_, has_found_cold_, direct_}, std::move(segments));
}

std::unique_ptr<Pending> PosixStore::submit_write(std::vector<WriteSegment> segments) {
  return std::make_unique<PendingWrite>(OpenFile{path_, file_.number(), recorded_}, std::move(segments));
}

void PosixStore::start_sync() noexcept { ::sync_file_range(file_.number(), 0, 0, SYNC_FILE_RANGE_WRITE); }

void PosixStore::sync() {
  const base::RecordedRequest event(PLAIT_EVENT_SYNC);
  const int result = ::fsync(file_.number());
  if (event.is_recorded()) event.end({recorded_.number(), -1, 0, result < 0 ? -errno : 0});
  if (result != 0) throw system_error(base::text("sync ", path_), errno);
}

}  // namespace plait::store::posix
