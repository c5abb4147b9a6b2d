#include "store/objects/s3/credentials/credentials.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/errors.hpp"

namespace plait::store::s3 {

namespace {

/// Reads digits from the beginning of a text and removes them.
class DigitReader {
 public:
  explicit DigitReader(std::string_view rest) : rest_(rest) {}

  /// Reads exactly `digits` digits.
  int number(std::size_t digits) {
    int value = 0;
    const char* const end = rest_.data() + std::min(digits, rest_.size());
    const auto [stop, error] = std::from_chars(rest_.data(), end, value);
    valid_ = valid_ && rest_.size() >= digits && error == std::errc() && stop == end && value >= 0;
    rest_.remove_prefix(std::min(digits, rest_.size()));
    return value;
  }
  /// Reads one of some characters. Returns the character, or 0.
  char character(std::string_view allowed) {
    const bool matches = !rest_.empty() && allowed.find(rest_.front()) != std::string_view::npos;
    const char c = matches ? rest_.front() : '\0';
    if (matches) rest_.remove_prefix(1);
    return c;
  }
  void require(bool condition) { valid_ = valid_ && condition; }
  void skip_digits() { rest_.remove_prefix(std::min(rest_.find_first_not_of("0123456789"), rest_.size())); }
  /// True if all was read and correct.
  bool complete() const { return valid_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool valid_ = true;
};

bool ends_header(const std::string& text) {
  constexpr std::string_view kEnds("\r\n\0", 3);
  return text.find_first_of(kEnds) != std::string::npos;
}

}  // namespace

std::string text_member(const nlohmann::json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<std::int64_t> parse_timestamp(std::string_view time) {
  DigitReader reader(time);
  const int year = reader.number(4);
  reader.require(reader.character("-") != '\0');
  const int month = reader.number(2);
  reader.require(reader.character("-") != '\0');
  const int day = reader.number(2);
  reader.require(reader.character("Tt ") != '\0');
  const int hours = reader.number(2);
  reader.require(reader.character(":") != '\0');
  const int minutes = reader.number(2);
  reader.require(reader.character(":") != '\0');
  const int seconds = reader.number(2);
  if (reader.character(".") != '\0') reader.skip_digits();
  std::int64_t offset = 0;
  const char zone = reader.character("Zz+-");
  reader.require(zone != '\0' && hours < 24 && minutes < 60 && seconds <= 60);
  if (zone == '+' || zone == '-') {
    offset = std::int64_t{reader.number(2)} * 3600;
    (void)reader.character(":");
    offset += std::int64_t{reader.number(2)} * 60;
    if (zone == '-') offset = -offset;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!reader.complete() || !date.ok()) return std::nullopt;
  const std::chrono::sys_seconds midnight{std::chrono::sys_days(date)};
  return midnight.time_since_epoch().count() + hours * 3600 + minutes * 60 + seconds - offset;
}

void check_keys(const Credentials& keys, const std::string& source) {
  if (ends_header(keys.access_key) || ends_header(keys.session_token))
    base::throw_system_error(EPROTO, source, ": the keys have line breaks; expected keys that fit into HTTP headers");
}

Credentials parse_credentials(std::string_view json, const MemberNames& names, const std::string& source) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object())
    base::throw_system_error(EPROTO, source, ": the answer is not a JSON object; expected one with AccessKeyId and ",
                             "SecretAccessKey");
  if (names.has_version && (!object.contains("Version") || object["Version"] != 1))
    base::throw_system_error(EPROTO, source, ": the answer does not have the Version 1; other versions are unknown");
  Credentials keys{text_member(object, "AccessKeyId"), text_member(object, "SecretAccessKey"),
                   text_member(object, names.session_token)};
  if (keys.access_key.empty() || keys.secret_key.empty())
    base::throw_system_error(EPROTO, source, ": the answer has no keys; expected AccessKeyId and SecretAccessKey");
  check_keys(keys, source);
  if (object.contains("Expiration") && !object["Expiration"].is_null()) {
    const std::optional<std::int64_t> expires = parse_timestamp(text_member(object, "Expiration"));
    if (!expires)
      base::throw_system_error(EPROTO, source, ": Expiration is not a time; expected one such as 2026-11-29T10:00:00Z");
    keys.expires = *expires;
  }
  return keys;
}

Credentials parse_token(const std::string& answer, const std::string& source) {
  const nlohmann::json object = nlohmann::json::parse(answer, nullptr, false);
  Credentials made;
  std::int64_t lifetime = -1;
  if (object.is_object()) {
    made.session_token = text_member(object, "access_token");
    // Azure's servers of machines write a text.
    const std::string stated = text_member(object, "expires_in");
    const auto at = object.find("expires_in");
    if (at != object.end() && at->is_number()) lifetime = at->get<std::int64_t>();
    (void)std::from_chars(stated.data(), stated.data() + stated.size(), lifetime);
  }
  if (made.session_token.empty() || lifetime < 0)
    base::throw_system_error(EPROTO, source, ": the answer has no token; expected access_token and expires_in; check ",
                             "the server");
  check_keys(made, source);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  made.expires = std::chrono::duration_cast<std::chrono::seconds>(now).count() + lifetime;
  return made;
}

}  // namespace plait::store::s3
