/// Keys of an account.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace plait::store::s3 {

/// Keys of an account, or a token. They never appear in errors.
struct Credentials {
  std::string access_key{};
  std::string secret_key{};
  std::string session_token{};  ///< of temporary keys; without keys, an OAuth 2.0 token (RFC 6750)
  std::int64_t expires = 0;     ///< seconds since 1970; 0: never
};

/// Returns seconds since 1970 for a time such as `2026-11-29T10:00:00Z` or `2026-11-29T12:00:00.5+02:00`.
std::optional<std::int64_t> parse_timestamp(std::string_view time);

/// Names of the members of a JSON object with keys.
struct MemberNames {
  const char* session_token = "Token";
  /// The object has the member `Version` with the value 1.
  bool has_version = false;
};

/// Checks that keys fit into HTTP headers.  errors  kSystem: they have line ends or NUL.
void check_keys(const Credentials& keys, const std::string& source);

/// Parses a JSON object with the members AccessKeyId, SecretAccessKey, Expiration and that of the session token, the
/// last two if there are any. source: begins the errors, such as "cannot get keys from X".
/// errors  kSystem: the text is no such object. The message has nothing of the text.
Credentials parse_credentials(std::string_view json, const MemberNames& names, const std::string& source);

/// Returns a member of an object that is a text; empty if there is none.
std::string text_member(const nlohmann::json& object, const char* name);

/// Parses the answer of a server that gives OAuth 2.0 tokens: a JSON object with `access_token` and `expires_in`.
/// errors  kSystem: the text is no such object. The message has nothing of the text.
Credentials parse_token(const std::string& answer, const std::string& source);

}  // namespace plait::store::s3
