#include "trace/formats/perfetto/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace plait::trace::perfetto {

namespace {

void append_number(std::string& json, auto value, int base = 10) {
  std::array<char, 24> digits;
  json.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr);
}

/// Returns the number of bytes of the UTF-8 character at the beginning of a text; 0 if it is invalid: too long a form,
/// a half of a UTF-16 pair, or above U+10FFFF.
std::size_t character_bytes(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const unsigned code = (first & 0x0f) << 12 | (at(1) & 0x3f) << 6;
    return follows(1) && follows(2) && code >= 0x800 && (code & 0xf800) != 0xd800 ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const unsigned code = (first & 0x07) << 18 | (at(1) & 0x3f) << 12;
    return follows(1) && follows(2) && follows(3) && code >= 0x10000 && code < 0x110000 ? 4 : 0;
  }
  return 0;
}

}  // namespace

void append_text(std::string& json, std::string_view raw) {
  json += '"';
  const auto is_plain = [](char letter) { return letter >= 0x20 && letter < 0x7f && letter != '"' && letter != '\\'; };
  while (!raw.empty()) {
    const auto run = static_cast<std::size_t>(std::find_if_not(raw.begin(), raw.end(), is_plain) - raw.begin());
    json += raw.substr(0, run);
    raw.remove_prefix(run);
    if (raw.empty()) break;
    const auto code = static_cast<unsigned char>(raw.front());
    std::size_t bytes = character_bytes(raw);
    if (bytes == 0) {
      json += "\\ufffd";
      bytes = 1;
    } else if (code == '"' || code == '\\') {
      json += '\\';
      json += raw.front();
    } else if (code < 0x20) {
      json += code < 0x10 ? "\\u000" : "\\u00";
      append_number(json, static_cast<unsigned>(code), 16);
    } else {
      json += raw.substr(0, bytes);
    }
    raw.remove_prefix(bytes);
  }
  json += '"';
}

void append_time(std::string& json, std::int64_t ns) {
  if (ns < 0) json += '-';
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  append_number(json, size / 1000);
  const auto rest = static_cast<unsigned>(size % 1000);
  if (rest == 0) return;
  json += '.';
  json += static_cast<char>('0' + rest / 100);
  json += static_cast<char>('0' + rest / 10 % 10);
  json += static_cast<char>('0' + rest % 10);
}

void Object::key(std::string_view name) {
  const std::size_t used = json_.size();
  json_.resize(used + name.size() + 4);
  char* at = json_.data() + used;
  if (!is_first_) *at++ = ',';
  *at++ = '"';
  at += name.copy(at, name.size());
  *at++ = '"';
  *at++ = ':';
  json_.resize(static_cast<std::size_t>(at - json_.data()));
  is_first_ = false;
}

void Object::text(std::string_view name, std::string_view value) {
  key(name);
  append_text(json_, value);
}

void Object::number(std::string_view name, std::int64_t value) {
  key(name);
  append_number(json_, value);
}

void Object::natural(std::string_view name, std::uint64_t value) {
  key(name);
  append_number(json_, value);
}

void Object::time(std::string_view name, std::int64_t ns) {
  key(name);
  append_time(json_, ns);
}

void Object::yes(std::string_view name) {
  key(name);
  json_ += "true";
}

void Object::id(std::string_view name, std::uint64_t value) {
  key(name);
  json_ += "\"0x";
  append_number(json_, value, 16);
  json_ += '"';
}

std::string& Object::inner(std::string_view name) {
  key(name);
  return json_;
}

}  // namespace plait::trace::perfetto
