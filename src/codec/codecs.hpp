/// The codecs that there are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "codec/codec.hpp"

namespace plait::codec {

/// RFC 1952 and RFC 1950, by zlib.  level: 0 to 9.
std::shared_ptr<const Codec> gzip(int level);
std::shared_ptr<const Codec> zlib(int level);
/// RFC 8878, by libzstd.  level: as ZSTD_minCLevel() and ZSTD_maxCLevel() allow; 0 is that of the library, 3.
std::shared_ptr<const Codec> zstd(int level, bool checksum = false);
/// Four bytes behind the others, least first: their CRC-32C (RFC 3720).
std::shared_ptr<const Codec> crc32c();

/// How c-blosc packs: in blocks, whose bytes it reorders first.
struct BloscOptions {
  std::string compressor = "lz4";
  int level = 5;
  int shuffle = 1;  ///< 0: not at all, 1: bytes of the elements, 2: their bits
  int element_bytes = 1;
};
/// By the library libblosc.so.1 of the system, which is loaded when it is used first.
std::shared_ptr<const Codec> blosc(const BloscOptions& options);

/// A packer as a user names it: `none`, `gzip`, `gzip:9`, `zlib:5`, `zstd:3`, `blosc:5`, `blosc-zstd`.
struct Spec {
  std::string name;
  int level = 0;
  bool none() const { return name == "none"; }
  /// What blosc is to pack by; nothing for other packers.
  std::optional<std::string> blosc_compressor() const;
  /// errors  kArgument: the name or the level.
  std::shared_ptr<const Codec> codec() const;
};

/// errors  kArgument: another text, and which ones there are.
Spec parse_spec(std::string_view text);

}  // namespace plait::codec
