/// Points at which inflating a gzipped file can restart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/traits.hpp"
#include "store/store.hpp"

namespace plait::container::gzip {

/// The state of an inflater between two blocks of a member, or before a member.
struct RestartPoint {
  std::int64_t compressed_offset = 0;  ///< bytes of the file before it; the last of these may be used in part
  std::int64_t content_offset = 0;     ///< bytes of the content before it
  int bits = 0;         ///< number of bits of the byte at `compressed_offset` - 1 that belong to the next block
  bool inside = false;  ///< true if it is within a member; otherwise a header follows
  std::string window;   ///< the last 32 KiB, or less, of this member's content, to which the next blocks may refer
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, RestartPoint>& point) {
  codec(point.compressed_offset, point.content_offset, point.bits, point.inside, point.window);
}

/// The framing of the deflated blocks.
enum class Framing : std::uint8_t {
  kGzip,  ///< members of gzip, with headers, checksums and lengths
  kNone   ///< none: the blocks are one stream, whose checksum and length are known
};
constexpr Framing last_value(Framing /*any*/) { return Framing::kNone; }
/// Returns `gzip` or `deflate`.
std::string_view to_string(Framing framing);

struct Index {
  std::int64_t compressed_bytes = 0;  ///< size of the file
  std::int64_t content_bytes = 0;     ///< size of the content
  Framing framing = Framing::kGzip;
  /// The restart points, sorted by offset. The first one is the beginning of the file. There are at most kMaxPoints,
  /// regardless of the size of the file.
  std::vector<RestartPoint> points;

  /// Returns the last point at or before `offset`.
  const RestartPoint& before(std::int64_t offset) const;

  /// Returns the index for other ranks, deflated.
  std::string to_text() const;
  /// Decodes an index.  errors  kSystem, EIO: to_text() has not written the text.
  static Index parse(std::string_view text);
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Index>& index) {
  codec(index.compressed_bytes, index.content_bytes, index.framing, index.points);
}

/// Maximum number of points; their windows then need 4 MiB.
inline constexpr std::size_t kMaxPoints = 128;
/// Minimum distance of points in the content at first. It doubles each time the number of points reaches kMaxPoints.
inline constexpr std::int64_t kMinSpacing = std::int64_t{1} << 20;

/// Inflates the whole file once, and verifies all checksums.
/// cost  About half a second for each 100 MiB of content.
/// errors  kSystem: the data are damaged or truncated; the message has their position. Errors of the store.
Index make_index(store::Store& file);

/// The known properties of one stream without frames.
struct StreamEnd {
  std::int64_t content_bytes = 0;
  std::uint32_t check_sum = 0;  ///< CRC-32, as in zip and gzip
};
/// Makes the index of a stream without frames that fills `file`. It never inflates more than the expected length.
/// errors  kSystem: those of make_index(file), and another length or checksum.
Index make_index(store::Store& file, const StreamEnd& expected);

}  // namespace plait::container::gzip
