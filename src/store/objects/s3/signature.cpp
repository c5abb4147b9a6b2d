// SigV4: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
//
// The canonical request is a text of the method, path, sorted query, sorted headers and the SHA-256 of the body. The
// signature is the HMAC of its hash, with a key from the secret key, the day, the region and the service.
// libcurl's own signatures are wrong in widely used versions for sorted queries and for `=` in keys.
//
// Example: GET https://examplebucket.s3.amazonaws.com/test.txt with `Range: bytes=0-9` in us-east-1 on 2013-05-24 is
//   GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\nx-amz-content-sha256:e3b0...\n
//   x-amz-date:20130524T000000Z\n\nhost;range;x-amz-content-sha256;x-amz-date\ne3b0...

#include "store/objects/s3/signature.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <vector>

#include "base/text.hpp"
#include "store/url.hpp"

namespace plait::store::s3 {

namespace {

using base::text;
using Digest = std::array<unsigned char, crypto_auth_hmacsha256_BYTES>;

const unsigned char* raw_bytes(const void* bytes) { return static_cast<const unsigned char*>(bytes); }

std::string to_hex(std::span<const unsigned char> bytes) {
  std::string digits(bytes.size() * 2 + 1, '\0');
  ::sodium_bin2hex(digits.data(), digits.size(), bytes.data(), bytes.size());
  digits.pop_back();
  return digits;
}

Digest hmac(std::span<const unsigned char> key, std::string_view message) {
  crypto_auth_hmacsha256_state state;
  ::crypto_auth_hmacsha256_init(&state, key.data(), key.size());
  ::crypto_auth_hmacsha256_update(&state, raw_bytes(message.data()), message.size());
  Digest digest;
  ::crypto_auth_hmacsha256_final(&state, digest.data());
  return digest;
}

/// Returns a time such as `20130524T000000Z`.
std::string to_date(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::int64_t of_day = (time - day).count();
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(of_day / 3600),
                static_cast<int>(of_day / 60 % 60), static_cast<int>(of_day % 60));
  return buffer.data();
}

/// Returns the parameters of a query in their order, each with a `=`.
std::string canonical_query(std::string_view query) {
  if (query.empty()) return {};
  std::vector<std::string> parameters = split(query, '&');
  for (std::string& one : parameters)
    if (one.find('=') == std::string::npos) one += '=';
  std::ranges::sort(parameters);
  std::string result;
  for (const std::string& one : parameters) base::append_parts(result, result.empty() ? "" : "&", one);
  return result;
}

struct CanonicalRequest {
  std::string text;
  std::string headers;  ///< names of the signed headers
  std::string hash;     ///< SHA-256 of the body
};

CanonicalRequest canonical_request(const http::Request& request, const Dialect& dialect) {
  const std::string_view host = http::url_authority(request.url);
  std::string_view rest = std::string_view(request.url).substr(request.url.find("://") + 3 + host.size());
  const std::size_t question = rest.find('?');
  const std::string_view path = rest.substr(0, question);
  const std::string_view query = question == std::string_view::npos ? std::string_view() : rest.substr(question + 1);
  std::map<std::string, std::string_view> headers{{"host", host}};
  CanonicalRequest made;
  for (const http::Header& one : request.headers) {
    headers[base::to_lower(one.name)] = one.value;
    if (one.name.starts_with(dialect.headers) && one.name.ends_with("-content-sha256")) made.hash = one.value;
  }
  made.text = text(request.method, '\n', path.empty() ? "/" : path, '\n', canonical_query(query), '\n');
  for (const auto& [name, value] : headers) {
    base::append_parts(made.text, name, ':', value, '\n');
    base::append_parts(made.headers, made.headers.empty() ? "" : ";", name);
  }
  base::append_parts(made.text, '\n', made.headers, '\n', made.hash);
  return made;
}

}  // namespace

void sign(http::Request& request, const Credentials& credentials, const SigningScope& scope) {
  const std::string date = to_date(scope.seconds);
  const std::string day = date.substr(0, 8);
  const Dialect& dialect = scope.dialect;
  request.headers.push_back({text(dialect.headers, "date"), date});
  if (!credentials.session_token.empty())
    request.headers.push_back({text(dialect.headers, "security-token"), credentials.session_token});
  const CanonicalRequest canonical = canonical_request(request, dialect);
  const std::string where = text(day, '/', scope.region, '/', dialect.service, '/', dialect.request);
  const std::string to_sign =
      text(dialect.algorithm, '\n', date, '\n', where, '\n', sha256_hex(std::as_bytes(std::span(canonical.text))));
  const std::string secret = text(dialect.version, credentials.secret_key);
  Digest key = hmac({raw_bytes(secret.data()), secret.size()}, day);
  for (const std::string_view part : {std::string_view(scope.region), dialect.service, dialect.request})
    key = hmac(key, part);
  request.headers.push_back(
      {"Authorization", text(dialect.algorithm, " Credential=", credentials.access_key, '/', where,
                             ",SignedHeaders=", canonical.headers, ",Signature=", to_hex(hmac(key, to_sign)))});
}

}  // namespace plait::store::s3
