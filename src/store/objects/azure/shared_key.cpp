// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
//
// The text that is signed has the method, eleven standard headers, the headers that begin with `x-ms-` and the
// resource, each on a line of its own. The resource is the account, the path, and the parameters of the query.
//
// Example: GET https://me.blob.core.windows.net/c?comp=list with version 2021-08-06 is
//   GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2021-08-06\n/me/c\ncomp:list

#include "store/objects/azure/shared_key.hpp"

#include <sodium.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "store/url.hpp"

namespace plait::store::azure {

namespace {

using base::text;

constexpr std::array<std::string_view, 11> kStandardHeaders{
    "content-encoding",  "content-language", "content-length", "content-md5",         "content-type", "date",
    "if-modified-since", "if-match",         "if-none-match",  "if-unmodified-since", "range"};

/// Returns the parameters of a query, decoded, in the order of their names.
std::string canonical_query(std::string_view query) {
  std::map<std::string, std::string> parameters;
  for (const std::string& one : split(query, '&')) {
    const std::size_t equals = one.find('=');
    if (!one.empty())
      parameters[base::to_lower(unescaped(one.substr(0, equals), one))] =
          equals == std::string::npos ? std::string() : unescaped(one.substr(equals + 1), one);
  }
  std::string result;
  for (const auto& [name, value] : parameters) base::append_parts(result, '\n', name, ':', value);
  return result;
}

std::string text_to_sign(const http::Request& request, const std::string& account) {
  std::map<std::string, std::string> headers;
  for (const http::Header& one : request.headers) headers[base::to_lower(one.name)] = one.value;
  if (!request.body.empty()) headers["content-length"] = std::to_string(request.body.size());
  std::string made = request.method;
  for (const std::string_view name : kStandardHeaders) base::append_parts(made, '\n', headers[std::string(name)]);
  made += '\n';
  for (const auto& [name, value] : headers)
    if (name.starts_with("x-ms-")) base::append_parts(made, name, ':', value, '\n');
  const std::string_view host = http::url_authority(request.url);
  const std::string_view rest = std::string_view(request.url).substr(request.url.find("://") + 3 + host.size());
  const std::size_t question = std::min(rest.find('?'), rest.size());
  base::append_parts(made, '/', account, rest.substr(0, question));
  if (question < rest.size()) made += canonical_query(rest.substr(question + 1));
  return made;
}

}  // namespace

std::string http_date(std::int64_t seconds) {
  constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::int64_t of_day = (time - day).count();
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                kDays[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                static_cast<int>(of_day / 3600), static_cast<int>(of_day / 60 % 60), static_cast<int>(of_day % 60));
  return buffer.data();
}

void sign(http::Request& request, const std::string& account, const std::string& key) {
  const std::string message = text_to_sign(request, account);
  std::vector<unsigned char> secret(key.size());
  std::size_t size = 0;
  (void)::sodium_base642bin(secret.data(), secret.size(), key.data(), key.size(), nullptr, &size, nullptr,
                            sodium_base64_VARIANT_ORIGINAL);
  crypto_auth_hmacsha256_state state;
  ::crypto_auth_hmacsha256_init(&state, secret.data(), size);
  ::crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(message.data()), message.size());
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> digest{};
  ::crypto_auth_hmacsha256_final(&state, digest.data());
  std::array<char, sodium_base64_ENCODED_LEN(crypto_auth_hmacsha256_BYTES, sodium_base64_VARIANT_ORIGINAL)> signature{};
  ::sodium_bin2base64(signature.data(), signature.size(), digest.data(), digest.size(), sodium_base64_VARIANT_ORIGINAL);
  request.headers.push_back({"Authorization", text("SharedKey ", account, ':', signature.data())});
}

}  // namespace plait::store::azure
