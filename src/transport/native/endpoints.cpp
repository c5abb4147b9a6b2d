#include "transport/native/endpoints.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/errors.hpp"
#include "base/host/host.hpp"
#include "base/text.hpp"
#include "transport/native/address.hpp"

namespace plait::transport::native {

namespace {

constexpr std::size_t kMaxText = 8192;
constexpr std::size_t kMaxWord = 255;

bool is_printable(char c) { return c > ' ' && c < '\x7f'; }

/// Stands for a host without a known boot id, which never counts as this host.
constexpr std::string_view kUnknownHost = "?";

/// Returns the text without blanks and other characters that could not be a word of a line; kUnknownHost if it is
/// empty.
std::string to_word(std::string text) {
  if (text.empty()) return std::string(kUnknownHost);
  std::replace_if(text.begin(), text.end(), [](char c) { return !is_printable(c); }, '_');
  text.resize(std::min(text.size(), kMaxWord));
  return text;
}

/// Removes the first word and the space after it, and returns the word.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

[[noreturn]] void throw_invalid_endpoints(std::string_view text, std::string_view why) {
  base::throw_argument_error("'", text.substr(0, 200), "' does not say where a process may be reached: ", why,
                             "; expected its host's mark and name, and addresses as local:NAME, tcp:10.0.0.1:4711 or "
                             "tcp:[2001:db8::1]:4711, with a blank between two");
}

}  // namespace

std::string Endpoints::text() const {
  std::string line = host + ' ' + name;
  for (const std::string& address : addresses) line += ' ' + address;
  return line;
}

Endpoints Endpoints::parse(std::string_view text) {
  if (text.size() > kMaxText) throw_invalid_endpoints(text, base::text("it has ", text.size(), " characters"));
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || is_printable(c); }))
    throw_invalid_endpoints("...", "it has characters other than those of ASCII");
  std::string_view rest = text;
  Endpoints found;
  found.host = take_word(rest);
  found.name = take_word(rest);
  if (found.host.empty() || found.name.empty()) throw_invalid_endpoints(text, "the host or its name is missing");
  if (std::max(found.host.size(), found.name.size()) > kMaxWord) throw_invalid_endpoints(text, "a name is too long");
  if (text.back() == ' ') throw_invalid_endpoints(text, "it ends in a blank");
  while (!rest.empty()) {
    const std::string_view word = take_word(rest);
    if (!Address::parse(word)) throw_invalid_endpoints(text, base::text("'", word.substr(0, 120), "' is no address"));
    found.addresses.emplace_back(word);
  }
  return found;
}

bool Endpoints::is_on_this_host() const {
  static const std::string here = own_host().host;
  return host == here && here != kUnknownHost;
}

Endpoints own_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string boot = base::host::boot_id();
  const std::uint64_t network_namespace = base::host::network_namespace_id();
  const bool known = !boot.empty() && network_namespace != 0;
  return {
      known ? to_word(base::text(boot, '/', network_namespace)) : std::string(kUnknownHost), to_word(name.data()), {}};
}

}  // namespace plait::transport::native
