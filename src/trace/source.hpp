/// The bytes of a trace that is read, front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace plait::trace {

/// Where bytes come from.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// Fills the front of `room`; returns how many, 0 at the end.  errors  kSystem.
  virtual std::size_t read(char* room, std::size_t bytes) = 0;
  virtual std::int64_t size() const { return 0; }  ///< 0: not known
  /// The descriptor of a regular file, for reading at random by pread; -1: it is none.
  virtual int file() const { return -1; }
  virtual std::string path() const { return {}; }  ///< of that file
};

/// A file, a pipe or a device; errors call it `shown`.  errors  kSystem.
std::unique_ptr<Bytes> open_bytes(const std::string& path, const std::string& shown);
/// A copy of some text.
std::unique_ptr<Bytes> bytes_of(std::string_view text);

/// Bytes with a look ahead, and lines.  memory: one buffer that grows to the longest line, kLongest at most.
class Source {
 public:
  static constexpr std::size_t kLongest = std::size_t{1} << 20;

  Source(std::string name, std::unique_ptr<Bytes> bytes);

  /// For errors.
  const std::string& name() const noexcept { return name_; }
  /// Up to `bytes` (at most kLongest) from here, left unread; fewer at the end.  Valid until the next call.
  std::string_view peek(std::size_t bytes);
  /// The same, read.
  std::string_view take(std::size_t bytes);
  /// The next line without its end; false at the end.  Valid until the next call.
  /// A line longer than kLongest comes cut, the rest of it is left out, and long_lines() counts it.
  bool line(std::string_view& text);
  /// Whether the last line ended in a newline.
  bool line_was_whole() const noexcept { return whole_; }

  std::int64_t lines() const noexcept { return lines_; }
  std::int64_t long_lines() const noexcept { return long_lines_; }
  std::int64_t bytes_read() const noexcept { return passed_ + static_cast<std::int64_t>(begin_); }
  std::int64_t size() const { return bytes_->size(); }
  int file() const { return bytes_->file(); }
  std::string path() const { return bytes_->path(); }

 private:
  /// Brings `bytes` into the buffer where there are so many; returns how many there are.
  std::size_t fill(std::size_t bytes);

  std::string name_;
  std::unique_ptr<Bytes> bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is not read yet
  std::size_t end_ = 0;
  std::int64_t passed_ = 0;  // bytes that have left the buffer
  std::int64_t lines_ = 0;
  std::int64_t long_lines_ = 0;
  std::string cut_;  // a line that was too long
  bool ended_ = false;
  bool whole_ = true;
};

}  // namespace plait::trace
