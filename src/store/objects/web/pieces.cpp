// Pieces of objects.
//
// Example: the ranges [0, 100), [300, 400) and [20 MiB, 40 MiB). The first two are 200 bytes apart, so that one request
// reads [0, 400), of which 200 bytes are dropped. The third one becomes five pieces of 4 MiB. A range from the
// end of the object, such as its last 16 bytes, is a piece of its own, because its offset is not known.
//
// Some servers ignore ranges and answer with the whole object (status 200). If it is small, the other bytes are
// dropped; otherwise the transfer is abandoned.

#include "store/objects/web/pieces.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text.hpp"
#include "store/http/settings.hpp"

namespace plait::store::web {

namespace {

/// Maximum size of an object that is read as a whole for a piece of it.
constexpr std::int64_t kMaxIgnored = std::int64_t{16} << 20;

void add_range(std::vector<Piece>& pieces, ReadSegment range) {
  const std::int64_t max_bytes = http::piece_bytes();
  if (!pieces.empty() && pieces.back().begin >= 0) {
    Piece& last = pieces.back();
    const std::int64_t end = last.begin + last.bytes;
    if (range.offset - end <= kMaxGap && range.offset >= end && last.bytes < max_bytes) {
      const std::int64_t added = std::min(range.bytes, std::max(max_bytes - (range.offset - last.begin), kMaxGap));
      last.segments.push_back({range.offset, range.data, added});
      last.bytes = range.offset + added - last.begin;
      range = {range.offset + added, range.data + added, range.bytes - added};
    }
  }
  while (range.bytes > 0) {
    const std::int64_t bytes = std::min(range.bytes, max_bytes);
    pieces.push_back({range.offset, bytes, {{range.offset, range.data, bytes}}});
    range = {range.offset + bytes, range.data + bytes, range.bytes - bytes};
  }
}

}  // namespace

std::string Piece::range() const {
  return begin < 0 ? base::text("bytes=", begin) : base::text("bytes=", begin, '-', begin + bytes - 1);
}

std::vector<Piece> make_pieces(std::vector<ReadSegment> ranges) {
  std::ranges::stable_sort(ranges, {}, &ReadSegment::offset);
  std::vector<Piece> pieces;
  for (const ReadSegment& range : ranges) {
    if (range.bytes == 0) continue;
    if (range.offset < 0)
      pieces.push_back({range.offset, range.bytes, {range}});
    else
      add_range(pieces, range);
  }
  return pieces;
}

bool PieceSink::begin(const http::Response& head) {
  segment_ = 0;
  if (head.status != 206) return begin_whole(head);
  const std::optional<http::ContentRange> range = http::parse_content_range(head.header("content-range"));
  if (!range) return false;
  object_bytes_ = range->object_bytes;
  if (object_bytes_ <= range->last || (piece_.begin >= 0 && range->first != piece_.begin)) return false;
  begin_ = piece_.begin >= 0 ? piece_.begin : object_bytes_ + piece_.begin;
  at_ = range->first;
  // A piece that ends after the object ends is not inside it, whatever arrives.
  end_ = is_inside() ? begin_ + piece_.bytes : range->last + 1;
  return true;
}

bool PieceSink::begin_whole(const http::Response& head) {
  object_bytes_ = http::parse_count(head.header("content-length"));
  has_ignored_range_ = object_bytes_ < 0 || object_bytes_ > kMaxIgnored;
  if (has_ignored_range_) return false;
  begin_ = piece_.begin >= 0 ? piece_.begin : object_bytes_ + piece_.begin;
  at_ = 0;
  end_ = object_bytes_;
  return true;
}

bool PieceSink::receive(std::span<const std::byte> bytes) {
  const std::int64_t end = at_ + std::ssize(bytes);
  const std::int64_t shift = begin_ - piece_.begin;  // 0, unless the offsets count from the end of the object
  for (std::size_t i = segment_; i < piece_.segments.size(); ++i) {
    const ReadSegment& segment = piece_.segments[i];
    const std::int64_t first = segment.offset + shift;
    const std::int64_t from = std::max(first, at_);
    const std::int64_t to = std::min(first + segment.bytes, end);
    if (first >= end) break;
    if (from < to)
      std::memcpy(segment.data + (from - first), bytes.data() + (from - at_), static_cast<std::size_t>(to - from));
    if (to == first + segment.bytes && i == segment_) ++segment_;
  }
  at_ = end;
  return true;
}

bool WholeSink::begin(const http::Response& head) {
  constexpr std::int64_t kMaxReserved = std::int64_t{64} << 20;  // whatever the server announces
  content_.clear();
  announced_ = http::parse_count(head.header("content-length"));
  if (announced_ > max_bytes_) return false;
  if (announced_ > 0) content_.reserve(static_cast<std::size_t>(std::min(announced_, kMaxReserved)));
  return true;
}

}  // namespace plait::store::web
