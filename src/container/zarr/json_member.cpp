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

/// The range of a member with one of its commas, which must be erased to remove the member.
struct MemberRange {
  std::size_t begin;
  std::size_t end;
  std::size_t value = 0;      ///< position of its value
  std::size_t value_end = 0;  ///< position of the comma or bracket after its value
};

/// Removes the quotes and resolves the escapes of a JSON string; returns nothing if it is not valid.
std::optional<std::string> unquote(std::string_view string) {
  if (string.find('\\') == kNone) return std::string(string.substr(1, string.size() - 2));
  const auto parsed = nlohmann::json::parse(string, nullptr, false);
  return parsed.is_string() ? std::optional(parsed.get<std::string>()) : std::nullopt;
}

/// A member of a JSON object by its positions: of the string with its name, of its value, and of the comma or bracket
/// after it.
struct MemberPosition {
  std::size_t key;
  std::size_t key_end;
  std::size_t value;
  std::size_t end;
};

/// Calls `visit` for each member. Returns false if the text is not a JSON object.
template <typename Visit>
bool for_each_member(std::string_view text, const Visit& visit) {
  std::size_t at = skip_spaces(text, 0);
  if (at == text.size() || text[at] != '{') return false;
  at = skip_spaces(text, at + 1);
  if (at < text.size() && text[at] == '}') return true;
  while (at < text.size() && text[at] == '"') {
    const std::size_t key = at;
    const std::size_t key_end = skip_string(text, key);
    if (key_end == kNone) return false;
    at = skip_spaces(text, key_end);
    if (at == text.size() || text[at] != ':') return false;
    const std::size_t end = skip_value(text, at + 1);
    if (end == kNone) return false;
    visit(MemberPosition{key, key_end, skip_spaces(text, at + 1), end});
    if (text[end] == '}') return true;
    at = skip_spaces(text, end + 1);
  }
  return false;
}

std::string_view trim_end(std::string_view value) { return value.substr(0, value.find_last_not_of(" \t\r\n") + 1); }

/// Returns the last member of that name, which is the one that parsers use, together with one of its commas. The result
/// is {0, 0} if there is none, and nothing if the text is not a JSON object.
std::optional<MemberRange> find_last_member(std::string_view text, std::string_view name) {
  MemberRange found{0, 0};
  std::size_t before = kNone;  // position of the comma before the member
  const bool is_object = for_each_member(text, [&](const MemberPosition& member) {
    if (unquote(text.substr(member.key, member.key_end - member.key)) == name) {
      const bool is_last = text[member.end] == '}';
      found = before != kNone ? MemberRange{before, member.end, member.value, member.end}
                              : MemberRange{member.key, is_last ? member.end : skip_spaces(text, member.end + 1),
                                            member.value, member.end};
    }
    before = member.end;
  });
  return is_object ? std::optional(found) : std::nullopt;
}

}  // namespace

std::optional<std::string> remove_member(std::string_view object, std::string_view name) {
  std::string text(object);
  while (true) {
    const std::optional<MemberRange> found = find_last_member(text, name);
    if (!found) return std::nullopt;
    if (found->begin == found->end) return text;
    text.erase(found->begin, found->end - found->begin);
  }
}

std::string find_member_text(std::string_view object, std::string_view name) {
  const std::optional<MemberRange> found = find_last_member(object, name);
  if (!found || found->begin == found->end) return {};
  std::string_view value = object.substr(found->value, found->value_end - found->value);
  return std::string(trim_end(value));
}

std::optional<std::vector<MemberText>> list_members(std::string_view object) {
  std::vector<MemberText> members;
  bool valid = true;
  const bool is_object = for_each_member(object, [&](const MemberPosition& member) {
    const std::optional<std::string> name = unquote(object.substr(member.key, member.key_end - member.key));
    valid = valid && name.has_value();
    if (name) members.push_back({*name, std::string(trim_end(object.substr(member.value, member.end - member.value)))});
  });
  return valid && is_object ? std::optional(std::move(members)) : std::nullopt;
}

std::optional<std::string> set_member(std::string_view object, std::string_view name, std::string_view value) {
  const std::optional<MemberRange> found = find_last_member(object, name);
  if (!found) return std::nullopt;
  std::string text(object);
  if (found->begin != found->end) {
    const std::size_t bytes = find_member_text(object, name).size();
    return text.replace(found->value, bytes, value);
  }
  const std::size_t end = text.find_last_of('}');
  std::size_t last = text.find_last_not_of(" \t\r\n", end - 1);
  const std::string_view comma = text[last] == '{' ? "" : ", ";
  return text.insert(last + 1, std::string(comma) + nlohmann::json(name).dump() + ": " + std::string(value));
}

}  // namespace plait::container::zarr
