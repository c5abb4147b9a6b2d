/// The available codecs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/codec.hpp"

namespace plait::codec {

/// The formats gzip (RFC 1952) and zlib (RFC 1950).  level: 0 to 9.
std::shared_ptr<const Codec> gzip(int level);
std::shared_ptr<const Codec> zlib(int level);
/// Decodes data without a frame (RFC 1951) into `output`, and returns the number of decoded bytes.
/// errors  Those of Codec::decode().
std::size_t inflate_raw(std::span<const std::byte> encoded, std::span<std::byte> output, const std::string& what);
/// The format zstd (RFC 8878), by libzstd.  level: between ZSTD_minCLevel() and ZSTD_maxCLevel(); 0 is the library's
/// default, 3.
std::shared_ptr<const Codec> zstd(int level, bool checksum = false);
/// Appends the CRC-32C (RFC 3720) of the bytes as four bytes, least significant first.
std::shared_ptr<const Codec> crc32c();

/// The options of c-blosc, which reorders the bytes of each block before it compresses them.
struct BloscOptions {
  std::string compressor = "lz4";
  int level = 5;
  int shuffle = 1;  ///< 0: none, 1: bytes of the elements, 2: bits of the elements
  int element_bytes = 1;
};
/// The format of c-blosc. Uses the library libblosc.so.1 of the system, which is loaded at its first use.
std::shared_ptr<const Codec> blosc(const BloscOptions& options);

/// A compressor as users spell it: `none`, `gzip`, `gzip:9`, `zlib:5`, `zstd:3`, `blosc:5`, `blosc-zstd`.
struct Spec {
  std::string name;
  int level = 0;
  /// Returns true if chunks are not compressed.
  bool none() const { return name == "none"; }
  /// Returns the compressor that blosc uses; nullopt for other codecs.
  std::optional<std::string> blosc_compressor() const;
  /// Makes the codec; none() must be false.
  /// errors  kArgument: an unknown name.
  std::shared_ptr<const Codec> codec() const;
};

/// Parses a compressor.
/// errors  kArgument: an unknown name, with the known ones, or a level out of range.
Spec parse_spec(std::string_view text);

}  // namespace plait::codec
