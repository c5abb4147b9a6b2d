/// Puts JSON objects together, one a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plait::trace::perfetto {

/// Appends a text with its quotes.  Bytes that are no UTF-8 become U+FFFD.
void append_text(std::string& json, std::string_view raw);
/// Microseconds with ns as decimals.
void append_time(std::string& json, std::int64_t ns);

/// One object, members in the order in which they are added.
class Object {
 public:
  explicit Object(std::string& json) : json_(json) { json_ += '{'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { json_ += '}'; }

  void text(std::string_view key, std::string_view value);
  void number(std::string_view key, std::int64_t value);
  void natural(std::string_view key, std::uint64_t value);
  void time(std::string_view key, std::int64_t ns);
  void yes(std::string_view key);
  /// A number too long for a reader that takes numbers for doubles: as a text.
  void id(std::string_view key, std::uint64_t value);
  /// The key of an inner object, which is begun next.
  std::string& inner(std::string_view key);

 private:
  void key(std::string_view name);

  std::string& json_;
  bool first_ = true;
};

}  // namespace plait::trace::perfetto
