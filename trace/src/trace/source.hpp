/// The input of a trace, read sequentially.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace plait::trace {

/// Bytes of a file, a pipe or a text, from the first to the last.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// Reads into `output`. Returns the number of bytes, 0 at the end.
  /// errors  kSystem.
  virtual std::size_t read(char* output, std::size_t bytes) = 0;
  virtual std::int64_t size() const { return 0; }  ///< 0: unknown
  /// Returns the descriptor of a regular file for pread; -1: it is not a regular file.
  virtual int file() const { return -1; }
  virtual std::string path() const { return {}; }  ///< path of that file
};

/// Opens a file, a pipe or a device. Error texts name it `shown`.
/// errors  kSystem.
std::unique_ptr<Bytes> open_bytes(const std::string& path, const std::string& shown);
/// Returns the bytes of a text, of which it makes a copy.
std::unique_ptr<Bytes> make_bytes(std::string_view text);

/// A buffered reader of bytes, with lookahead, and of lines.
/// memory  one buffer that grows to the longest line, at most kMaxLineBytes.
class Source {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  Source(std::string name, std::unique_ptr<Bytes> bytes);

  /// The name in error texts.
  const std::string& name() const noexcept { return name_; }
  /// Returns up to `bytes` (at most kMaxLineBytes) from the current position, which does not move; fewer at the end.
  /// Valid until the next call.
  std::string_view peek(std::size_t bytes);
  /// Returns the same as peek(), and moves the position to the byte after them.
  std::string_view take(std::size_t bytes);
  /// Reads the next line without its end. Returns false at the end. Valid until the next call. A line longer than
  /// kMaxLineBytes is truncated, and long_lines() counts it.
  bool read_line(std::string_view& text);
  /// True if the last line ended in a newline.
  bool line_had_newline() const noexcept { return last_line_has_newline_; }

  std::int64_t lines() const noexcept { return lines_; }
  std::int64_t long_lines() const noexcept { return long_lines_; }
  std::int64_t bytes_read() const noexcept { return consumed_ + static_cast<std::int64_t>(begin_); }
  std::int64_t size() const { return bytes_->size(); }
  int file() const { return bytes_->file(); }
  std::string path() const { return bytes_->path(); }

 private:
  /// Reads until the buffer has at least `bytes`, or to the end. Returns the number of bytes in it.
  std::size_t fill(std::size_t bytes);

  std::string name_;
  std::unique_ptr<Bytes> bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // the unread bytes begin here, and end at end_
  std::size_t end_ = 0;
  std::int64_t consumed_ = 0;  // number of bytes that were removed from the buffer
  std::int64_t lines_ = 0;
  std::int64_t long_lines_ = 0;
  std::string truncated_line_;  // the last line, if it was truncated
  bool is_at_end_ = false;
  bool last_line_has_newline_ = true;
};

}  // namespace plait::trace
