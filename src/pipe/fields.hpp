/// The bodies of frames: numbers and texts, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/error.hpp"
#include "plait/index_set.hpp"

namespace plait::pipe {

/// Both ends of a connection have the same byte order: its hello has seen to that.
class FieldWriter {
 public:
  FieldWriter& put(std::int64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  FieldWriter& put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  FieldWriter& put(const std::vector<std::int64_t>& values) {
    put(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) put(value);
    return *this;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }
  const std::string& text() const { return bytes_; }

 private:
  std::string bytes_;
};

/// errors  kSystem, EPROTO: fewer bytes than a field has.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  explicit FieldReader(std::string_view text) : FieldReader(std::as_bytes(std::span(text))) {}

  /// A number of things that follow, each of 8 bytes at least.
  std::size_t count() { return count(sizeof(std::int64_t)); }
  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto bytes = take(count(1));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> values(count(sizeof(std::int64_t)));
    for (std::int64_t& value : values) value = number();
    return values;
  }

 private:
  /// How many things of this size follow.
  std::size_t count(std::size_t each) {
    const auto value = static_cast<std::uint64_t>(number());
    if (value > bytes_.size() / each) fail();
    return static_cast<std::size_t>(value);
  }
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > bytes_.size()) fail();
    const auto taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }
  [[noreturn]] static void fail();

  std::span<const std::byte> bytes_;
};

}  // namespace plait::pipe
