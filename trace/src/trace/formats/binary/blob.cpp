#include "trace/formats/binary/blob.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/files/open_file.hpp"
#include "base/process.hpp"

namespace plait::trace::binary {

namespace {

constexpr std::size_t kMaxMemoryBytes = std::size_t{8} << 20;

class FileBlob : public Blob {
 public:
  FileBlob(std::string path, base::Descriptor file) : path_(std::move(path)), file_(std::move(file)) {
    struct stat status;
    if (::fstat(file_.number(), &status) != 0) throw base::system_error("look at the trace " + path_, errno);
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::size_t read(std::uint64_t offset, void* output, std::size_t bytes) const override {
    owner_.check("the trace " + path_);
    std::size_t bytes_read = 0;
    while (bytes_read < bytes && offset + bytes_read < size_) {
      const ssize_t count = ::pread(file_.number(), static_cast<char*>(output) + bytes_read, bytes - bytes_read,
                                    static_cast<off_t>(offset + bytes_read));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw base::system_error("read the trace " + path_, errno);
      if (count == 0) break;
      bytes_read += static_cast<std::size_t>(count);
    }
    return bytes_read;
  }

  std::uint64_t size() const override { return size_; }

 private:
  const base::Owner owner_;
  std::string path_;
  base::Descriptor file_;
  std::uint64_t size_ = 0;
};

class MemoryBlob : public Blob {
 public:
  explicit MemoryBlob(std::string bytes) : bytes_(std::move(bytes)) {}

  std::size_t read(std::uint64_t offset, void* output, std::size_t bytes) const override {
    if (offset >= bytes_.size()) return 0;
    const std::size_t count = std::min(bytes, bytes_.size() - static_cast<std::size_t>(offset));
    std::memcpy(output, bytes_.data() + offset, count);
    return count;
  }

  std::uint64_t size() const override { return bytes_.size(); }

 private:
  std::string bytes_;
};

base::Descriptor temporary_file() {
  const char* environment = std::getenv("TMPDIR");
  const std::string folder = environment != nullptr && *environment != 0 ? environment : "/tmp";
  std::string name = folder + "/plait-trace-XXXXXX";
  base::Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.number() < 0) throw base::system_error("make a temporary file in " + folder, errno);
  ::unlink(name.c_str());
  return file;
}

void write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw base::system_error("write a temporary file", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::unique_ptr<Blob> open_blob(const std::string& path) {
  return std::make_unique<FileBlob>(path, base::open_file(path, O_RDONLY, 0, "the trace " + path));
}

std::unique_ptr<Blob> open_blob(const Source& source) {
  base::Descriptor file(::fcntl(source.file(), F_DUPFD_CLOEXEC, 0));
  if (file.number() < 0) throw base::system_error("open the trace " + source.name(), errno);
  return std::make_unique<FileBlob>(source.name(), std::move(file));
}

std::unique_ptr<Blob> spool(Source& source) {
  std::string content;
  while (content.size() < kMaxMemoryBytes) {
    const std::string_view part = source.take(std::size_t{1} << 18);
    if (part.empty()) return std::make_unique<MemoryBlob>(std::move(content));
    content += part;
  }
  base::Descriptor file = temporary_file();
  write_all(file.number(), content);
  while (true) {
    const std::string_view part = source.take(std::size_t{1} << 18);
    if (part.empty()) break;
    write_all(file.number(), part);
  }
  return std::make_unique<FileBlob>(source.name(), std::move(file));
}

}  // namespace plait::trace::binary
