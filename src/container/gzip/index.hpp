/// Where inflating a gzipped file can begin anew.
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
  std::int64_t packed = 0;    ///< bytes of the file before it; the last one may be half used
  std::int64_t unpacked = 0;  ///< bytes of the content before it
  int bits = 0;               ///< of the byte before `packed` that belong to what follows
  bool inside = false;        ///< of a member; else a header follows
  std::string window;         ///< the content before it that is referred to, of this member: 32 KiB at most
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, RestartPoint>& point) {
  codec(point.packed, point.unpacked, point.bits, point.inside, point.window);
}

/// What stands around the deflated blocks.
enum class Framing : std::uint8_t {
  kGzip,  ///< members of gzip, with headers, check sums and lengths
  kNone   ///< nothing: they are one stream, of which the check sum and the length are known
};
constexpr Framing last_value(Framing /*any*/) { return Framing::kNone; }
/// `gzip` or `deflate`, for people.
std::string_view words(Framing framing);

struct Index {
  std::int64_t packed = 0;    ///< bytes of the file
  std::int64_t unpacked = 0;  ///< bytes of the content
  Framing framing = Framing::kGzip;
  /// Ascending; the first one is the beginning of the file.  At most kMostPoints, whatever the size of the file.
  std::vector<RestartPoint> points;

  /// The last one that is not behind `offset`.
  const RestartPoint& before(std::int64_t offset) const;

  /// For other ranks, deflated.
  std::string to_text() const;
  /// errors  kSystem, EIO: not what to_text() gives.
  static Index parse(std::string_view text);
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Index>& index) {
  codec(index.packed, index.unpacked, index.framing, index.points);
}

/// 4 MiB of windows.
inline constexpr std::size_t kMostPoints = 128;
/// The content between two of them, where the file is not too large for that; twice as much as often as needed then.
inline constexpr std::int64_t kLeastSpacing = std::int64_t{1} << 20;

/// Inflates the whole file once and compares all check sums.
/// cost    Half a second for each 100 MiB of content, roughly.
/// errors  kSystem: damaged or truncated data, and where; the store's own errors.
Index make_index(store::Store& file);

/// What is known of one stream without frames.
struct Expected {
  std::int64_t unpacked = 0;
  std::uint32_t check_sum = 0;  ///< CRC-32 as of zip and gzip
};
/// The same of a stream that fills `file`.  It never unpacks more than is expected.
/// errors  kSystem: also another length or check sum.
Index make_index(store::Store& file, const Expected& expected);

}  // namespace plait::container::gzip
