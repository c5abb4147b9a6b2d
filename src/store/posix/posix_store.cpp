#include "store/posix/posix_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"

namespace plait::store::posix {

namespace {

/// Below this a hint costs more than it can win.
constexpr std::int64_t kLeastReadAhead = std::int64_t{256} << 10;
/// Linux moves at most 2 GiB - 4 KiB a call.
constexpr std::int64_t kMostBytesACall = std::int64_t{1} << 30;

void start_read_ahead(int file, const ReadSegment& segment) {
  if (segment.bytes >= kLeastReadAhead) ::posix_fadvise(file, segment.offset, segment.bytes, POSIX_FADV_WILLNEED);
}

/// Reads what is cached from the front of a segment; returns its bytes.
std::int64_t read_cached(int file, const ReadSegment& segment) {
  iovec part{segment.data, static_cast<std::size_t>(std::min(segment.bytes, kMostBytesACall))};
  return std::max<ssize_t>(::preadv2(file, &part, 1, segment.offset, RWF_NOWAIT), 0);
}

class PendingRead : public Pending {
 public:
  PendingRead(const std::string& path, int file, std::atomic<bool>& cold, std::vector<ReadSegment> segments)
      : path_(path), file_(file), cold_(cold), segments_(std::move(segments)) {}

  void complete() override {
    for (const ReadSegment& segment : segments_) {
      std::int64_t done = 0;
      if (segment.bytes >= kLeastReadAhead && !cold_) {
        done = read_cached(file_, segment);
        if (done < std::min(segment.bytes, kMostBytesACall)) {
          cold_ = true;
          start_read_ahead(file_, segment);
        }
      }
      while (done < segment.bytes) {
        const auto wanted = static_cast<std::size_t>(std::min(segment.bytes - done, kMostBytesACall));
        const ssize_t got = ::pread(file_, segment.data + done, wanted, segment.offset + done);
        if (got > 0) {
          done += got;
        } else if (got == 0) {
          throw Error(ErrorKind::kSystem, base::text("cannot read ", path_, " at offset ", segment.offset + done,
                                                     ": the file ends there, but ", segment.bytes - done,
                                                     " more bytes were expected; it has been truncated"));
        } else if (errno != EINTR) {
          throw system_error(base::text("read ", path_, " at offset ", segment.offset + done), errno);
        }
      }
    }
  }

 private:
  const std::string& path_;
  int file_;
  std::atomic<bool>& cold_;
  std::vector<ReadSegment> segments_;
};

class PendingWrite : public Pending {
 public:
  PendingWrite(const std::string& path, int file, std::vector<WriteSegment> segments)
      : path_(path), file_(file), segments_(std::move(segments)) {}

  void complete() override {
    for (const WriteSegment& segment : segments_) {
      std::int64_t done = 0;
      while (done < segment.bytes) {
        const auto wanted = static_cast<std::size_t>(std::min(segment.bytes - done, kMostBytesACall));
        const ssize_t put = ::pwrite(file_, segment.data + done, wanted, segment.offset + done);
        if (put > 0) {
          done += put;
        } else if (put == 0) {
          throw system_error(base::text("write ", path_, " at offset ", segment.offset + done), EIO);
        } else if (errno != EINTR) {
          throw system_error(base::text("write ", path_, " at offset ", segment.offset + done), errno);
        }
      }
    }
  }

 private:
  const std::string& path_;
  int file_;
  std::vector<WriteSegment> segments_;
};

}  // namespace

PosixStore::PosixStore(std::string path, Access access)
    // Nonblocking, because opening a pipe would wait for its other end; it changes nothing for the files that are kept.
    : path_(std::move(path)), file_(open_file(path_, (access == Access::kRead ? O_RDONLY : O_RDWR) | O_NONBLOCK)) {
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
  if (cold_)
    for (const ReadSegment& segment : segments) start_read_ahead(file_.number(), segment);
  return std::make_unique<PendingRead>(path_, file_.number(), cold_, std::move(segments));
}

std::unique_ptr<Pending> PosixStore::submit_write(std::vector<WriteSegment> segments) {
  return std::make_unique<PendingWrite>(path_, file_.number(), std::move(segments));
}

void PosixStore::sync() {
  if (::fsync(file_.number()) != 0) throw system_error(base::text("sync ", path_), errno);
}

}  // namespace plait::store::posix
