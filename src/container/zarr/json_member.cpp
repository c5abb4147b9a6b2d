#include "container/zarr/json_member.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace plait::container::zarr {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  const std::size_t found = text.find_first_not_of(" \t\r\n", at);
  return found == kNone ? text.size() : found;
}

/// Returns the end of the string that opens at `at`; kNone if it does not end.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return kNone;
}

/// Returns the position of the comma or bracket that ends the value at `at`; kNone if there is none.
std::size_t skip_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      if (at == kNone) return kNone;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}')) return at;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return kNone;
      --depth;
    }
    ++at;
  }
  return kNone;
}

struct Part {
  std::size_t begin;
  std::size_t end;
  std::size_t value = 0;  ///< position of its value
  std::size_t rest_begin = 0;
};

/// Returns true if a string, with its quotes, has the text `name`, regardless of escapes.
bool spells(std::string_view string, std::string_view name) {
  if (string.find('\\') == kNone) return string.substr(1, string.size() - 2) == name;
  const auto parsed = nlohmann::json::parse(string, nullptr, false);
  return parsed.is_string() && parsed.get_ref<const std::string&>() == name;
}

/// Returns the last member of that name, which is the one that parsers use, together with one of its commas. The result
/// is {0, 0} if there is none, and nothing if the text is no JSON object.
std::optional<Part> member(std::string_view text, std::string_view name) {
  Part found{0, 0};
  std::size_t at = skip_spaces(text, 0);
  if (at == text.size() || text[at] != '{') return std::nullopt;
  std::size_t before = kNone;  // position of the comma before the member
  at = skip_spaces(text, at + 1);
  if (at < text.size() && text[at] == '}') return found;
  while (at < text.size() && text[at] == '"') {
    const std::size_t key = at;
    at = skip_string(text, key);
    if (at == kNone) return std::nullopt;
    const bool wanted = spells(text.substr(key, at - key), name);
    at = skip_spaces(text, at);
    if (at == text.size() || text[at] != ':') return std::nullopt;
    const std::size_t end = skip_value(text, at + 1);
    if (end == kNone) return std::nullopt;
    const bool last = text[end] == '}';
    if (wanted) {
      const std::size_t value = skip_spaces(text, at + 1);
      found = before != kNone ? Part{before, end, value, end}
                              : Part{key, last ? end : skip_spaces(text, end + 1), value, end};
    }
    if (last) return found;
    before = end;
    at = skip_spaces(text, end + 1);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> without_member(std::string_view object, std::string_view name) {
  std::string text(object);
  while (true) {
    const std::optional<Part> found = member(text, name);
    if (!found) return std::nullopt;
    if (found->begin == found->end) return text;
    text.erase(found->begin, found->end - found->begin);
  }
}

std::string member_text(std::string_view object, std::string_view name) {
  const std::optional<Part> found = member(object, name);
  if (!found || found->begin == found->end) return {};
  std::string_view value = object.substr(found->value, found->rest_begin - found->value);
  return std::string(value.substr(0, value.find_last_not_of(" \t\r\n") + 1));
}

std::optional<std::string> with_member(std::string_view object, std::string_view name, std::string_view value) {
  const std::optional<Part> found = member(object, name);
  if (!found) return std::nullopt;
  std::string text(object);
  if (found->begin != found->end) {
    const std::size_t bytes = member_text(object, name).size();
    return text.replace(found->value, bytes, value);
  }
  const std::size_t end = text.find_last_of('}');
  std::size_t last = text.find_last_not_of(" \t\r\n", end - 1);
  const std::string_view comma = text[last] == '{' ? "" : ", ";
  return text.insert(last + 1, std::string(comma) + nlohmann::json(name).dump() + ": " + std::string(value));
}

}  // namespace plait::container::zarr
