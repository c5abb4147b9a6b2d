// Codecs and chains of codecs: round trips, errors for damaged bytes, and no writes beyond the output.
#include "codec/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "codec/codecs.hpp"
#include "codec/crc32c.hpp"
#include "plait/error.hpp"

namespace {

using plait::Error;
using plait::codec::Chain;
using plait::codec::Codec;

/// Returns random bytes with values below `value_count`; few values compress well.
std::vector<std::byte> random_bytes(std::size_t size, unsigned value_count) {
  std::mt19937 random(5);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % value_count);
  return bytes;
}

std::vector<Chain> chains() {
  namespace codec = plait::codec;
  return {Chain(),
          Chain({codec::gzip(1)}),
          Chain({codec::zlib(9)}),
          Chain({codec::zstd(3)}),
          Chain({codec::zstd(-5, /*checksum=*/true)}),
          Chain({codec::crc32c()}),
          Chain({codec::zstd(1), codec::crc32c()}),
          Chain({codec::crc32c(), codec::gzip(4), codec::crc32c()})};
}

TEST(Codec, DecodesToTheEncodedBytes) {
  for (const Chain& chain : chains())
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{300'000}})
      for (const unsigned value_count : {1U, 4U, 256U}) {
        const std::vector<std::byte> plain = random_bytes(size, value_count);
        const auto encoded_view = chain.encode(plain);
        EXPECT_LE(encoded_view.size(), chain.max_encoded(size)) << chain.describe();
        if (const auto fixed_size = chain.fixed_encoded_bytes(size)) {
          EXPECT_EQ(encoded_view.size(), *fixed_size);
        }
        const std::vector<std::byte> encoded(encoded_view.begin(), encoded_view.end());
        std::vector<std::byte> output(size + 1, std::byte{0x5a});  // decode() must not write the last byte
        chain.decode(encoded, std::span(output).first(size), "the chunk");
        EXPECT_TRUE(std::equal(plain.begin(), plain.end(), output.begin())) << chain.describe();
        EXPECT_EQ(output.back(), std::byte{0x5a});
      }
}

TEST(Codec, AWrongSizeIsAnError) {
  const std::vector<std::byte> plain = random_bytes(1000, 4);
  for (const Chain& chain : chains()) {
    const auto encoded_view = chain.encode(plain);
    const std::vector<std::byte> encoded(encoded_view.begin(), encoded_view.end());
    for (const std::size_t size : {std::size_t{0}, std::size_t{999}, std::size_t{1001}}) {
      std::vector<std::byte> output(size + 1, std::byte{0x5a});
      try {
        chain.decode(encoded, std::span(output).first(size), "the chunk x");
        ADD_FAILURE() << chain.describe();
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("the chunk x"), std::string::npos) << error.what();
      }
      EXPECT_EQ(output.back(), std::byte{0x5a});
    }
  }
}

TEST(Codec, ChecksumsDetectTruncationAndFlippedBits) {
  const Chain chain({plait::codec::crc32c()});
  const std::vector<std::byte> plain = random_bytes(37, 256);
  const auto encoded_view = chain.encode(plain);
  const std::vector<std::byte> encoded(encoded_view.begin(), encoded_view.end());
  std::vector<std::byte> output(plain.size());
  for (std::size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
    std::vector<std::byte> changed = encoded;
    changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_THROW(chain.decode(changed, output, "the chunk"), Error);
  }
  for (std::size_t size = 0; size < encoded.size(); ++size)
    EXPECT_THROW(chain.decode(std::span(encoded).first(size), output, "the chunk"), Error);
}

// The examples of RFC 3720, appendix B.4.
TEST(Codec, ChecksumsAreThoseOfTheStandard) {
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(plait::codec::compute_crc32c(bytes), 0x8a9136aaU);
  std::ranges::fill(bytes, std::byte{0xff});
  EXPECT_EQ(plait::codec::compute_crc32c(bytes), 0x62a8ab43U);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(plait::codec::compute_crc32c(bytes), 0x46dd794eU);
  EXPECT_EQ(plait::codec::compute_crc32c(std::span(bytes).first(0)), 0U);
}

TEST(Codec, SpecsAreParsedToNamesAndLevels) {
  using plait::codec::parse_spec;
  EXPECT_TRUE(parse_spec("none").none());
  EXPECT_EQ(parse_spec("zstd").level, 3);
  EXPECT_EQ(parse_spec("zstd:-7").level, -7);
  EXPECT_EQ(parse_spec("gzip:9").level, 9);
  EXPECT_EQ(parse_spec("zlib").codec()->describe(), "zlib");
  EXPECT_EQ(parse_spec("blosc-zstd:9").level, 9);
  EXPECT_EQ(parse_spec("blosc").codec()->describe(), "blosc lz4");
  EXPECT_FALSE(parse_spec("zstd").blosc_compressor());
  for (const char* text : {"", "zst", "zstd:", "zstd:x", "zstd:3 ", "gzip:10", "gzip:-1", "none:1", "zstd:99"})
    EXPECT_THROW(parse_spec(text), Error) << text;
}

}  // namespace
