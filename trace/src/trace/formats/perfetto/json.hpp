/// Generation of JSON objects, one per line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plait::trace::perfetto {

/// Appends a text in quotes. Bytes that are not UTF-8 become U+FFFD.
void append_text(std::string& json, std::string_view raw);
/// Appends a time in microseconds; ns are the decimals.
void append_time(std::string& json, std::int64_t ns);

/// Appends one object to a text. Each function adds a member.
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
  void yes(std::string_view key);  ///< true
  /// Appends a number as a text, because readers that parse numbers as doubles would round it.
  void id(std::string_view key, std::uint64_t value);
  /// Appends the key of an inner object, which is begun next.
  std::string& inner(std::string_view key);

 private:
  void key(std::string_view name);

  std::string& json_;
  bool is_first_ = true;
};

}  // namespace plait::trace::perfetto
