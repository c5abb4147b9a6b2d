#include "trace/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "base/files/open_file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace plait::trace {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 18;

class FileBytes : public Bytes {
 public:
  FileBytes(const std::string& path, const std::string& shown)
      : path_(path), shown_(shown), file_(base::open_file(path, O_RDONLY, 0, "the trace " + shown)) {
    struct stat status;
    if (::fstat(file_.number(), &status) != 0) throw base::system_error("look at the trace " + shown_, errno);
    if (S_ISDIR(status.st_mode)) base::throw_system_error(EISDIR, "cannot read the trace ", shown_, ": it is a folder");
    is_regular_ = S_ISREG(status.st_mode);
    if (is_regular_) size_ = status.st_size;
  }

  std::size_t read(char* output, std::size_t bytes) override {
    owner_.check("the trace " + shown_);
    while (true) {
      const ssize_t count = ::read(file_.number(), output, bytes);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) throw base::system_error("read the trace " + shown_, errno);
    }
  }

  std::int64_t size() const override { return size_; }
  int file() const override { return is_regular_ ? file_.number() : -1; }
  std::string path() const override { return path_; }

 private:
  const base::Owner owner_;
  std::string path_;
  std::string shown_;
  base::Descriptor file_;
  std::int64_t size_ = 0;
  bool is_regular_ = false;
};

class TextBytes : public Bytes {
 public:
  explicit TextBytes(std::string_view text) : text_(text) {}

  std::size_t read(char* output, std::size_t bytes) override {
    const std::size_t count = std::min(bytes, text_.size() - position_);
    std::memcpy(output, text_.data() + position_, count);
    position_ += count;
    return count;
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(text_.size()); }

 private:
  std::string text_;
  std::size_t position_ = 0;
};

}  // namespace

std::unique_ptr<Bytes> open_bytes(const std::string& path, const std::string& shown) {
  return std::make_unique<FileBytes>(path, shown);
}

std::unique_ptr<Bytes> make_bytes(std::string_view text) { return std::make_unique<TextBytes>(text); }

Source::Source(std::string name, std::unique_ptr<Bytes> bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}

std::size_t Source::fill(std::size_t bytes) {
  while (end_ - begin_ < bytes && !is_at_end_) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      consumed_ += static_cast<std::int64_t>(begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    // A short trace needs only its own size, and one more byte to detect its end.
    const std::int64_t size = bytes_->size();
    const std::size_t chunk = size > 0 ? std::min(kReadBytes, static_cast<std::size_t>(size) + 1) : kReadBytes;
    buffer_.resize(std::max(buffer_.size(), end_ + chunk));
    const std::size_t count = bytes_->read(buffer_.data() + end_, buffer_.size() - end_);
    is_at_end_ = count == 0;
    end_ += count;
  }
  return end_ - begin_;
}

std::string_view Source::peek(std::size_t bytes) {
  const std::size_t count = std::min({bytes, kMaxLineBytes, fill(std::min(bytes, kMaxLineBytes))});
  return {buffer_.data() + begin_, count};
}

std::string_view Source::take(std::size_t bytes) {
  const std::string_view taken = peek(bytes);
  begin_ += taken.size();
  return taken;
}

bool Source::read_line(std::string_view& text) {
  std::size_t searched = 0;
  while (true) {
    const std::size_t available = end_ - begin_;
    const char* from = buffer_.data() + begin_;
    const void* newline = available > searched ? std::memchr(from + searched, '\n', available - searched) : nullptr;
    if (newline != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - from);
      text = {from, length};
      begin_ += length + 1;
      last_line_has_newline_ = true;
      break;
    }
    searched = available;
    if (available >= kMaxLineBytes) {  // ignores the rest of the line
      const std::string truncated(from, kMaxLineBytes);
      begin_ = end_;
      std::string_view rest;
      while (fill(1) > 0) {
        rest = peek(kReadBytes);
        const std::size_t stop = rest.find('\n');
        begin_ += stop == std::string_view::npos ? rest.size() : stop + 1;
        if (stop != std::string_view::npos) break;
      }
      ++long_lines_;
      truncated_line_ = truncated;
      text = truncated_line_;
      last_line_has_newline_ = true;
      break;
    }
    if (fill(available + 1) == available) {  // the end
      if (available == 0) return false;
      text = {buffer_.data() + begin_, available};
      begin_ = end_;
      last_line_has_newline_ = false;
      break;
    }
  }
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  ++lines_;
  return true;
}

}  // namespace plait::trace
