// Computes CRC-32C by the processor's instruction, or by a table.
//
// The checksum is the remainder of a division of polynomials over bits. One byte changes a remainder s to (s >> 8) ^
// table[(s ^ byte) & 0xff], with bits in reflected order; the instruction does this for 8 bytes. The remainder starts
// with all bits set and is inverted at the end, so that leading and trailing zeros change it.

#include "codec/crc32c.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.hpp"
#include "codec/codecs.hpp"
#include "codec/damaged.hpp"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace plait::codec {

namespace {

/// The remainder of each byte, with bits in reflected order.
constexpr std::array<std::uint32_t, 256> kTable = [] {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t checksum = byte;
    for (int bit = 0; bit < 8; ++bit) checksum = (checksum >> 1) ^ ((checksum & 1) != 0 ? kPolynomial : 0);
    table[byte] = checksum;
  }
  return table;
}();

/// Returns the remainder after further bytes.
std::uint32_t update_by_table(std::uint32_t checksum, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes)
    checksum = (checksum >> 8) ^ kTable[(checksum ^ static_cast<std::uint32_t>(byte)) & 0xff];
  return checksum;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t update_by_instruction(std::uint32_t checksum,
                                                                      std::span<const std::byte> bytes) {
  std::uint64_t remainder = checksum;
  while (bytes.size() >= sizeof remainder) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    remainder = _mm_crc32_u64(remainder, word);
    bytes = bytes.subspan(sizeof remainder);
  }
  return update_by_table(static_cast<std::uint32_t>(remainder), bytes);
}
#endif

class Crc32c : public Codec {
 public:
  std::string describe() const override { return "crc32c"; }
  std::size_t max_encoded(std::size_t bytes) const override { return bytes + kChecksumBytes; }
  std::optional<std::size_t> fixed_encoded_bytes(std::size_t bytes) const override { return bytes + kChecksumBytes; }
  std::size_t encode(std::span<const std::byte> plain, std::span<std::byte> output) const override {
    std::ranges::copy(plain, output.begin());
    const std::uint32_t checksum = compute_crc32c(plain);
    for (std::size_t i = 0; i < kChecksumBytes; ++i)
      output[plain.size() + i] = static_cast<std::byte>(checksum >> (8 * i) & 0xff);
    return plain.size() + kChecksumBytes;
  }
  std::size_t decode(std::span<const std::byte> encoded, std::span<std::byte> output,
                     const std::string& what) const override {
    if (encoded.size() < kChecksumBytes)
      throw_damaged(what, "it has ", encoded.size(), " bytes, less than its check sum");
    const std::span<const std::byte> plain = encoded.first(encoded.size() - kChecksumBytes);
    if (plain.size() > output.size())
      throw_damaged(what, "it has ", plain.size(), " bytes in front of its check sum, more than ", output.size());
    std::uint32_t stored_checksum = 0;
    for (std::size_t i = 0; i < kChecksumBytes; ++i)
      stored_checksum |= static_cast<std::uint32_t>(encoded[plain.size() + i]) << (8 * i);
    if (const std::uint32_t checksum = compute_crc32c(plain); checksum != stored_checksum)
      throw_damaged(what, "its check sum is ", base::hexadecimal_text(stored_checksum), ", but its bytes have ",
                    base::hexadecimal_text(checksum));
    std::ranges::copy(plain, output.begin());
    return plain.size();
  }

 private:
  static constexpr std::size_t kChecksumBytes = 4;
};

}  // namespace

std::uint32_t compute_crc32c(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kOnes = 0xffffffff;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") != 0) return update_by_instruction(kOnes, bytes) ^ kOnes;
#endif
  return update_by_table(kOnes, bytes) ^ kOnes;
}

std::shared_ptr<const Codec> crc32c() { return std::make_shared<Crc32c>(); }

}  // namespace plait::codec
