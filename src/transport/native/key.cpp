#include "transport/native/key.hpp"

#include <sodium.h>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "transport/native/random.hpp"

namespace plait::transport::native {

void fill_random(std::span<std::byte> bytes) {
  if (::sodium_init() < 0) base::throw_system_error(0, "the system gives no random bytes for a key");
  ::randombytes_buf(bytes.data(), bytes.size());
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  ::sodium_bin2hex(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  text.pop_back();
  return text;
}

Key Key::random() {
  Key key;
  fill_random(key.bytes_);
  return key;
}

Key Key::parse(std::string_view text) {
  Key key;
  std::size_t bytes = 0;
  const char* end = nullptr;
  const bool all = ::sodium_hex2bin(reinterpret_cast<unsigned char*>(key.bytes_.data()), kBytes, text.data(),
                                    text.size(), nullptr, &bytes, &end) == 0;
  // The error must not show the text, which is a secret.
  if (!all || bytes != kBytes || end != text.data() + text.size())
    base::throw_argument_error("not a key: expected ", 2 * kBytes, " hexadecimal digits, found ", text.size(),
                               " characters", text.size() == 2 * kBytes ? ", not all of them digits" : "");
  return key;
}

std::string Key::text() const { return hexadecimal(bytes_); }

}  // namespace plait::transport::native
