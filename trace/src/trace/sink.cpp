// Destinations of a trace: a file that appears when it is complete, a pipe or device, or a text in memory.

#include "trace/sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/descriptor.hpp"
#include "base/files/open_file.hpp"
#include "driver/plain/new_file.hpp"
#include "store/new_file.hpp"

namespace plait::trace {

namespace {

void write_all(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw base::system_error("write the trace " + path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

class FileSink : public Sink {
 public:
  explicit FileSink(const std::string& path)
      : path_(path),
        new_file_(driver::plain::make_new_file(path, {})),
        file_(base::open_file(new_file_->location().path, O_WRONLY)) {}

 protected:
  void write(std::string_view text) override { write_all(file_.number(), text, path_); }
  void commit() override {
    file_.close();
    new_file_->commit();
  }

 private:
  std::string path_;
  std::unique_ptr<store::NewFile> new_file_;
  base::Descriptor file_;
};

class StreamSink : public Sink {
 public:
  StreamSink(const std::string& path, base::Descriptor file) : path_(path), file_(std::move(file)) {}

 protected:
  void write(std::string_view text) override { write_all(file_.number(), text, path_); }
  void commit() override {}

 private:
  std::string path_;
  base::Descriptor file_;
};

class TextSink : public Sink {
 public:
  explicit TextSink(std::string& text) : text_(text) {}

 protected:
  void write(std::string_view text) override { text_ += text; }
  void commit() override {}

 private:
  std::string& text_;
};

}  // namespace

std::unique_ptr<Sink> open_sink(const std::string& path) {
  // The standard output is a pipe, or a file that other processes write to as well, so no new file replaces it.
  if (path == "/dev/stdout") {
    const int number = ::dup(STDOUT_FILENO);
    if (number < 0) throw base::system_error("write the trace to the standard output", errno);
    return std::make_unique<StreamSink>(path, base::Descriptor(number));
  }
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return std::make_unique<StreamSink>(path, base::open_file(path, O_WRONLY));
  return std::make_unique<FileSink>(path);
}

std::unique_ptr<Sink> make_text_sink(std::string& text) { return std::make_unique<TextSink>(text); }

}  // namespace plait::trace
