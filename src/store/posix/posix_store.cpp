#include "store/posix/posix_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <span>

#include "base/recorder.hpp"
#include "base/text.hpp"

namespace plait::store::posix {

namespace {

/// Linux moves at most 2 GiB - 4 KiB a call.
constexpr std::int64_t kMostBytesACall = std::int64_t{1} << 30;
/// Linux takes at most so many pieces of memory a call.
constexpr std::size_t kMostParts = IOV_MAX;

/// Neighbours among the segments that follow each other in the file as well: one call moves them.
template <typename Segment>
struct Request {
  std::span<const Segment> segments;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Calls visit(Request) for all segments in order.
template <typename Segment, typename Visit>
void for_each_request(const std::vector<Segment>& segments, Visit&& visit) {
  for (std::size_t first = 0; first < segments.size();) {
    const std::int64_t offset = segments[first].offset;
    std::int64_t bytes = segments[first].bytes;
    std::size_t next = first + 1;
    while (next < segments.size() && next - first < kMostParts && segments[next].offset - bytes == offset)
      bytes += segments[next++].bytes;
    visit(Request<Segment>{std::span(segments).subspan(first, next - first), offset, bytes});
    first = next;
  }
}

/// Where in memory a request goes on behind its first `done` bytes, for one call.
template <typename Segment>
std::span<const iovec> parts_behind(const Request<Segment>& request, std::int64_t done,
                                    std::array<iovec, kMostParts>& parts) {
  std::size_t count = 0;
  std::int64_t room = kMostBytesACall;
  for (const Segment& segment : request.segments) {
    const std::int64_t skipped = std::min(done, segment.bytes);
    const std::int64_t taken = std::min(segment.bytes - skipped, room);
    done -= skipped;
    room -= taken;
    if (taken > 0) parts[count++] = {const_cast<std::byte*>(segment.data) + skipped, static_cast<std::size_t>(taken)};
  }
  return {parts.data(), count};
}

ssize_t read_some(int file, const Request<ReadSegment>& request, std::int64_t done, int flags) {
  std::array<iovec, kMostParts> room;
  const auto parts = parts_behind(request, done, room);
  // The plain call is a little cheaper, and many requests are of a few bytes.
  if (flags == 0 && parts.size() == 1) return ::pread(file, parts[0].iov_base, parts[0].iov_len, request.offset + done);
  return ::preadv2(file, parts.data(), static_cast<int>(parts.size()), request.offset + done, flags);
}

ssize_t write_some(int file, const Request<WriteSegment>& request, std::int64_t done) {
  std::array<iovec, kMostParts> room;
  const auto parts = parts_behind(request, done, room);
  if (parts.size() == 1) return ::pwrite(file, parts[0].iov_base, parts[0].iov_len, request.offset + done);
  return ::pwritev(file, parts.data(), static_cast<int>(parts.size()), request.offset + done);
}

/// A file as its store has opened it.
struct Opened {
  const std::string& path;
  int descriptor;
  RecordedFile& recorded;
};

/// What one call asks the system for.
struct SystemCall {
  plait_event_kind kind;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool look = false;  // only into the cache
};

/// Makes one call and keeps it in the trace.  Looks into the cache that found nothing are no requests.
template <typename Call>
ssize_t recorded(RecordedFile& file, const SystemCall& asked, Call&& call) {
  const base::RecordedRequest reaching(asked.kind);
  const ssize_t result = call();
  if (reaching.kept() && !(asked.look && result <= 0))
    reaching.end({file.number(), asked.offset, asked.look ? result : std::min(asked.bytes, kMostBytesACall),
                  result < 0 ? -errno : result});
  return result;
}

class PendingRead : public Pending {
 public:
  PendingRead(const Opened& file, std::int64_t least_read_ahead, std::atomic<bool>& cold,
              std::vector<ReadSegment> segments)
      : file_(file), least_read_ahead_(least_read_ahead), cold_(cold), segments_(std::move(segments)) {
    if (!cold_) return;
    for_each_request(segments_, [this](const Request<ReadSegment>& request) { start_read_ahead(request); });
  }

  void complete() override {
    for_each_request(segments_, [this](const Request<ReadSegment>& request) { read(request); });
  }

 private:
  void start_read_ahead(const Request<ReadSegment>& request) const {
    if (request.bytes >= least_read_ahead_)
      ::posix_fadvise(file_.descriptor, request.offset, request.bytes, POSIX_FADV_WILLNEED);
  }
  ssize_t call(const Request<ReadSegment>& request, std::int64_t done, int flags) {
    return recorded(file_.recorded, {PLAIT_EVENT_READ, request.offset + done, request.bytes - done, flags != 0},
                    [&] { return read_some(file_.descriptor, request, done, flags); });
  }
  void read(const Request<ReadSegment>& request) {
    std::int64_t done = 0;
    if (request.bytes >= least_read_ahead_ && !cold_) {
      // What is cached from its front on.
      done = std::max<ssize_t>(call(request, 0, RWF_NOWAIT), 0);
      if (done < std::min(request.bytes, kMostBytesACall)) {
        cold_ = true;
        start_read_ahead(request);
      }
    }
    while (done < request.bytes) {
      const ssize_t got = call(request, done, 0);
      if (got > 0) {
        done += got;
      } else if (got == 0) {
        throw Error(ErrorKind::kSystem, base::text("cannot read ", file_.path, " at offset ", request.offset + done,
                                                   ": the file ends there, but ", request.bytes - done,
                                                   " more bytes were expected; it has been truncated"));
      } else if (errno != EINTR) {
        throw system_error(base::text("read ", file_.path, " at offset ", request.offset + done), errno);
      }
    }
  }

  Opened file_;
  std::int64_t least_read_ahead_;
  std::atomic<bool>& cold_;
  std::vector<ReadSegment> segments_;
};

class PendingWrite : public Pending {
 public:
  PendingWrite(const Opened& file, std::vector<WriteSegment> segments) : file_(file), segments_(std::move(segments)) {}

  void complete() override {
    for_each_request(segments_, [this](const Request<WriteSegment>& request) { write(request); });
  }

 private:
  void write(const Request<WriteSegment>& request) {
    for (std::int64_t done = 0; done < request.bytes;) {
      const ssize_t put = recorded(file_.recorded, {PLAIT_EVENT_WRITE, request.offset + done, request.bytes - done},
                                   [&] { return write_some(file_.descriptor, request, done); });
      if (put > 0) {
        done += put;
      } else if (put == 0) {
        throw system_error(base::text("write ", file_.path, " at offset ", request.offset + done), EIO);
      } else if (errno != EINTR) {
        throw system_error(base::text("write ", file_.path, " at offset ", request.offset + done), errno);
      }
    }
  }

  Opened file_;
  std::vector<WriteSegment> segments_;
};

}  // namespace

std::uint32_t RecordedFile::number() {
  std::call_once(once_, [this] { number_ = base::recorded_name(path_); });
  return number_;
}

PosixStore::PosixStore(std::string path, Access access, std::int64_t least_read_ahead)
    // Nonblocking, because opening a pipe would wait for its other end; it changes nothing for the files that are kept.
    : path_(std::move(path)),
      file_(open_file(path_, (access == Access::kRead ? O_RDONLY : O_RDWR) | O_NONBLOCK)),
      least_read_ahead_(least_read_ahead) {
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) throw system_error(base::text("look at ", path_), errno);
  if (S_ISDIR(status.st_mode)) throw system_error(base::text("open ", path_), EISDIR);
  if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
    throw Error(ErrorKind::kSystem,
                base::text("cannot open ", path_,
                           ": it is not a regular file; a file with bytes at "
                           "offsets is needed"),
                ESPIPE);
}

std::int64_t PosixStore::size() {
  const off_t end = ::lseek(file_.number(), 0, SEEK_END);
  if (end < 0) throw system_error(base::text("look at ", path_), errno);
  return end;
}

std::unique_ptr<Pending> PosixStore::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingRead>(Opened{path_, file_.number(), recorded_}, least_read_ahead_, cold_,
                                       std::move(segments));
}

std::unique_ptr<Pending> PosixStore::submit_write(std::vector<WriteSegment> segments) {
  return std::make_unique<PendingWrite>(Opened{path_, file_.number(), recorded_}, std::move(segments));
}

void PosixStore::start_sync() noexcept { ::sync_file_range(file_.number(), 0, 0, SYNC_FILE_RANGE_WRITE); }

void PosixStore::sync() {
  const base::RecordedRequest reaching(PLAIT_EVENT_SYNC);
  const int result = ::fsync(file_.number());
  if (reaching.kept()) reaching.end({recorded_.number(), -1, 0, result < 0 ? -errno : 0});
  if (result != 0) throw system_error(base::text("sync ", path_), errno);
}

}  // namespace plait::store::posix
