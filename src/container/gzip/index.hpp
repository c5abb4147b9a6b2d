/// An index of a gzipped file: the points at which inflating can restart, so that a read at a large offset does not
/// inflate the whole file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/traits.hpp"
#include "store/store.hpp"

namespace plait::container::gzip {

/// The state of an inflater between two deflate blocks of a member, or before a member. A gzip file consists of one or
/// more members (RFC 1952), each a header, deflate blocks, a checksum and a length.
struct RestartPoint {
  std::int64_t compressed_offset = 0;  ///< number of bytes of the file that the inflater has read
  std::int64_t content_offset = 0;     ///< number of bytes of the content that the inflater has returned
  int unused_bits = 0;  ///< number of bits of the byte at `compressed_offset` - 1 that belong to the next block
  bool is_inside_member = false;  ///< true if a block follows; false if the header of a member follows
  std::string window;  ///< the last 32 KiB, or less, of this member's content, to which the next blocks may refer
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, RestartPoint>& point) {
  codec(point.compressed_offset, point.content_offset, point.unused_bits, point.is_inside_member, point.window);
}

/// What surrounds the deflate blocks.
enum class Framing : std::uint8_t {
  kGzip,  ///< members of gzip, with headers, checksums and lengths
  kNone   ///< nothing: the blocks are one stream, whose checksum and length are known from elsewhere, as in zip files
};
constexpr Framing last_value(Framing /*any*/) { return Framing::kNone; }
/// Returns `gzip` or `deflate`.
std::string_view to_string(Framing framing);

/// The sizes and the restart points of a gzipped file.
/// The sizes and the restart points of a gzipped file.
struct Index {
  std::int64_t compressed_bytes = 0;  ///< size of the file
  std::int64_t content_bytes = 0;     ///< size of the content
  Framing framing = Framing::kGzip;
  /// The restart points, sorted by offset. The first one is the beginning of the file. There are at most kMaxPoints,
  /// regardless of the size of the file.
  std::vector<RestartPoint> points;

  /// Returns the last point at or before `offset` of the content.
  const RestartPoint& find_point(std::int64_t offset) const;

  /// Encodes and compresses the index, so that it can be sent to other ranks.
  std::string to_text() const;
  /// Decodes the result of to_text().  errors  kSystem, EIO: the text has another form.
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

/// Makes the index of a gzipped file. Inflates the whole file once, and verifies all checksums.
/// cost  About half a second for each 100 MiB of content.
/// errors  kSystem: the data are damaged or truncated; the message has their position. Errors of the store.
Index make_index(store::Store& file);

/// The known properties of a stream with Framing::kNone.
struct StreamEnd {
  std::int64_t content_bytes = 0;
  std::uint32_t check_sum = 0;  ///< CRC-32, as in zip and gzip
};
/// Makes the index of a stream with Framing::kNone that fills `file`. Fails as soon as the stream inflates to more than
/// the expected length.
/// errors  kSystem: those of make_index(file), and another length or checksum.
Index make_index(store::Store& file, const StreamEnd& expected);

}  // namespace plait::container::gzip
