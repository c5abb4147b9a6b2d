/// The output of a trace, written sequentially.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace plait::trace {

/// A buffered destination of bytes. Output that was not finished is discarded.
/// errors  kSystem.
class Sink {
 public:
  virtual ~Sink() = default;
  void put(std::string_view text) {
    if (text.size() > kCapacity - used_) flush();
    if (text.size() > kCapacity) return send(text);
    text.copy(buffer_.get() + used_, text.size());
    used_ += text.size();
  }
  /// Number of bytes put so far.
  std::int64_t bytes() const noexcept { return sent_ + static_cast<std::int64_t>(used_); }
  /// Makes the complete output visible under its name.
  void finish() {
    flush();
    commit();
  }

 protected:
  virtual void write(std::string_view text) = 0;
  /// Makes what was written visible.
  virtual void commit() = 0;

 private:
  static constexpr std::size_t kCapacity = std::size_t{1} << 18;

  void flush() {
    send({buffer_.get(), used_});
    used_ = 0;
  }
  void send(std::string_view text) {
    if (!text.empty()) write(text);
    sent_ += static_cast<std::int64_t>(text.size());
  }

  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kCapacity);
  std::size_t used_ = 0;
  std::int64_t sent_ = 0;
};

/// Opens a file, which has a temporary name until finish(), or a pipe or device such as /dev/stdout, to which the sink
/// writes directly.
std::unique_ptr<Sink> open_sink(const std::string& path);
/// Returns a sink that appends to a text of the caller.
std::unique_ptr<Sink> make_text_sink(std::string& text);

}  // namespace plait::trace
