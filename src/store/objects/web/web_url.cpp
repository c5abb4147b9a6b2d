#include "store/objects/web/web_url.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store::web {

WebUrl parse_web_url(const std::string& location) {
  WebUrl found;
  const std::size_t slashes = location.find("://");
  found.scheme = location.substr(0, slashes);
  const std::string rest = location.substr(slashes + 3);
  const std::size_t slash = rest.find('/');
  if (slash != std::string::npos) found.key = rest.substr(slash + 1);
  found.authority = rest.substr(0, slash);
  const std::size_t question = found.authority.find('?');
  if (question == std::string::npos) return found;
  found.query = found.authority.substr(question + 1);
  found.authority.resize(question);
  for (const std::string& option : split(found.query, '&')) {
    if (option.empty()) continue;
    const std::size_t equals = option.find('=');
    UrlOption next{option.substr(0, equals),
                   equals == std::string::npos ? "" : unescaped(option.substr(equals + 1), location)};
    if (std::ranges::any_of(found.options, [&](const UrlOption& old) { return old.key == next.key; }))
      base::throw_argument_error(location, ": the option ", next.key, "= is given twice; give it once");
    found.options.push_back(std::move(next));
  }
  return found;
}

namespace {

/// Replaces the user and the password in `endpoint=`, whose value may be encoded: `endpoint=http:%2F%2Fuser:word@host`.
void mask_endpoints(std::string& text) {
  constexpr std::string_view kOption = "endpoint=";
  for (std::size_t at = text.find(kOption); at != std::string::npos; at = text.find(kOption, at)) {
    at += kOption.size();
    const std::size_t slashes = text.find("://", at);
    const std::size_t next = text.find_first_of("/&", at);
    const std::size_t host = slashes != std::string::npos && next == slashes + 1 ? slashes + 3 : at;
    const std::string_view value =
        std::string_view(text).substr(at, std::min(text.find_first_of("/& \t\n\"'", host), text.size()) - at);
    std::size_t user = value.rfind('@');
    if (user == std::string_view::npos) user = value.rfind("%40");
    if (user != std::string_view::npos) text.replace(at, user, "...");
  }
}

}  // namespace

std::string without_secrets(std::string text) {
  mask_endpoints(text);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at)) {
    const std::size_t begin = at + 3;
    at = begin;
    const std::size_t scheme = text.find_last_not_of(kLetters, begin - 4);
    const std::string name = base::to_lower(std::string_view(text).substr(scheme + 1, begin - 3 - (scheme + 1)));
    if (name != "http" && name != "https") continue;
    std::size_t end = std::min(text.find_first_of(" \t\n\"'", begin), text.size());
    if (const std::size_t array = text.find("::", text.find_first_of("/?", begin)); array < end) end = array;
    while (end > begin && (text[end - 1] == ':' || text[end - 1] == ';' || text[end - 1] == ',')) --end;
    const std::size_t path = std::min(text.find('/', begin), end);
    const std::size_t user = text.rfind('@', path);
    const std::size_t query = text.find('?', begin);
    // A query before the path ends with the host (store/objects/web/web_url.hpp), another one with the URL.
    if (query < end) text.replace(query + 1, (query < path ? path : end) - query - 1, "...");
    if (user != std::string::npos && user >= begin && user < path && user < query)
      text.replace(begin, user - begin, "...");
  }
  return text;
}

std::string without_options(std::string location) {
  const std::size_t question = location.find('?');
  if (question != std::string::npos) {
    const bool after_key = location.find('/', location.find("://") + 3) < question;
    const std::size_t end = after_key ? location.size() : std::min(location.find('/', question), location.size());
    location.erase(question, end - question);
  }
  return without_secrets(std::move(location));
}

std::string with_options_first(const std::string& name) {
  const std::size_t slashes = name.find("://");
  const std::size_t question = name.find('?', slashes);
  if (slashes == std::string::npos || question == std::string::npos) return name;
  const std::size_t key = name.find('/', slashes + 3);
  if (key == std::string::npos || question < key) return name;
  // The name of an array may follow the options. `[::` begins the address of a host.
  std::size_t end = name.find("::", question);
  while (end != std::string::npos && name[end - 1] == '[') end = name.find("::", end + 2);
  end = std::min(end, name.size());
  std::string options;
  for (const char c : name.substr(question, end - question)) c == '/' ? options += "%2F" : options += c;
  return base::text(name.substr(0, key), options, name.substr(key, question - key), name.substr(end));
}

std::string with_option(const std::string& name, const std::string& key, const std::string& value) {
  const std::string ordered = with_options_first(name);
  const std::size_t begin = ordered.find("://") + 3;
  const std::size_t end = std::min(ordered.find('/', begin), ordered.size());
  const std::size_t question = std::min(ordered.find('?', begin), end);
  std::string options = base::text('?', key, '=', value);
  if (question < end)
    for (const std::string& option : split(ordered.substr(question + 1, end - question - 1), '&'))
      if (!option.empty() && option.substr(0, option.find('=')) != key) base::append_parts(options, '&', option);
  return base::text(ordered.substr(0, question), options, ordered.substr(end));
}

}  // namespace plait::store::web
