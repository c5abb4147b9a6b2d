// The codecs shuffle, fletcher32 and LZF, compared with their definitions, and errors for damaged bytes.
#include "container/hdf5/codecs/basic.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "plait/error.hpp"

namespace {

using plait::Error;
using plait::codec::Chain;
namespace hdf5 = plait::container::hdf5;
using Bytes = std::vector<std::byte>;

Bytes to_bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator());
  return bytes;
}

/// Decodes a chunk to `bytes` bytes.
Bytes decode(const Chain& chain, const Bytes& chunk, std::size_t bytes) {
  Bytes out(bytes);
  chain.decode(chunk, out, "a chunk");
  return out;
}

TEST(Hdf5Codecs, ShuffleGroupsBytesByTheirPositionInElements) {
  const Chain chain({hdf5::shuffle(3)});
  const Bytes plain = to_bytes("abcABC123xy");
  const auto chunk = chain.encode(plain);
  EXPECT_EQ(Bytes(chunk.begin(), chunk.end()), to_bytes("aA1bB2cC3xy"));
  for (const std::size_t element_bytes : {1, 2, 3, 4, 5, 8, 16})
    for (const std::size_t count : {0, 1, 7, 64, 1001}) {
      const Chain shuffled({hdf5::shuffle(element_bytes)});
      const Bytes elements = random_bytes(count, 1);
      const auto encoded = shuffled.encode(elements);
      EXPECT_EQ(decode(shuffled, Bytes(encoded.begin(), encoded.end()), count), elements);
    }
}

TEST(Hdf5Codecs, FletcherSumsBigEndianWords) {
  EXPECT_EQ(hdf5::compute_fletcher32({}), 0U);
  // For one word, both sums are that word.  For words a and b, the first sum is a + b and the second 2 a + b.
  EXPECT_EQ(hdf5::compute_fletcher32(to_bytes("ab")), 0x61626162U);
  EXPECT_EQ(hdf5::compute_fletcher32(to_bytes("abcd")), (0x6162U * 2 + 0x6364U - 0xffffU) << 16 | (0x6162U + 0x6364U));
  EXPECT_EQ(hdf5::compute_fletcher32(to_bytes("a")), 0x61006100U);
  // Compared with sums that are reduced modulo 65535 after each word.
  const Bytes many = random_bytes(100'001, 2);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  for (std::size_t i = 0; i < many.size(); i += 2) {
    const unsigned low = i + 1 < many.size() ? std::to_integer<unsigned>(many[i + 1]) : 0;
    first = (first + std::to_integer<unsigned>(many[i]) * 256 + low) % 65535;
    second = (second + first) % 65535;
  }
  const std::uint32_t sum = hdf5::compute_fletcher32(many);
  EXPECT_EQ((sum & 0xffffU) % 65535, first);
  EXPECT_EQ((sum >> 16) % 65535, second);
}

TEST(Hdf5Codecs, AWrongChecksumIsAnError) {
  const Chain chain({hdf5::fletcher32()});
  const Bytes plain = random_bytes(100, 3);
  const auto encoded = chain.encode(plain);
  Bytes chunk(encoded.begin(), encoded.end());
  ASSERT_EQ(chunk.size(), 104U);
  EXPECT_EQ(decode(chain, chunk, 100), plain);
  for (std::size_t offset = 0; offset < chunk.size(); ++offset) {
    Bytes changed = chunk;
    changed[offset] ^= std::byte{4};
    EXPECT_THROW(decode(chain, changed, 100), Error) << offset;
  }
  chunk.resize(3);
  EXPECT_THROW(decode(chain, chunk, 100), Error);
}

TEST(Hdf5Codecs, LzfCopiesEarlierBytes) {
  const Chain chain({hdf5::lzf()});
  // "abc", then 3 + 2 bytes from a distance of 3, then 9 + 1 bytes from a distance of 1.
  const Bytes chunk =
      to_bytes(std::string_view("\x02"
                                "abc\x60\x02\xe0\x01\x00",
                                9));
  EXPECT_EQ(decode(chain, chunk, 18), to_bytes("abcabcabbbbbbbbbbb"));
  for (const std::size_t bytes : {17, 19}) EXPECT_THROW(decode(chain, chunk, bytes), Error);
  for (std::size_t length = 1; length < chunk.size(); ++length)
    EXPECT_THROW(decode(chain, Bytes(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(length)), 18), Error);
  EXPECT_THROW(decode(chain,
                      to_bytes(std::string_view("\x00"
                                                "a\x60\x05",
                                                4)),
                      6),
               Error);  // a copy from before the beginning
}

}  // namespace
