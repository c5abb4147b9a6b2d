// Accessing a part of a file that consists of equal rows at equal distances, such as a netCDF variable with records.
//
// Offset o of the part is byte o mod row_bytes of row o / row_bytes. In the whole file it has the offset
// begin + o / row_bytes * stride + o mod row_bytes.
// Example: rows of 6 bytes from offset 100 on, 16 bytes apart. A read of 8 bytes at offset 4 of the part takes 2 bytes
// at 100 + 4 = 104 and 6 bytes at 116. Two small requests would cost more than the 10 bytes between the rows, so
// read_with_gaps() reads 104..121 at once.

#include "container/part_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::container {

namespace {

/// Length from which on a row, or a gap between two rows, is too long for read_with_gaps(). A request costs about 10
/// us, in which 10 to 16 KiB can be read.
constexpr std::int64_t kMaxGapBytes = std::int64_t{16} << 10;
/// Maximum length of a request of read_with_gaps(), unless a single piece is longer.
constexpr std::int64_t kMaxBlockBytes = std::int64_t{1} << 20;

/// Splits a segment of the part at the ends of rows. Calls `visit` for each piece with its offset in the whole store,
/// its offset in the segment, and its length.
template <typename Visit>
void for_each_piece(const Rows& rows, std::int64_t offset, std::int64_t bytes, const Visit& visit) {
  for (std::int64_t visited = 0; visited < bytes;) {
    const std::int64_t row = (offset + visited) / rows.row_bytes;
    const std::int64_t offset_in_row = (offset + visited) % rows.row_bytes;
    const std::int64_t length = std::min(rows.row_bytes - offset_in_row, bytes - visited);
    visit(rows.begin + row * rows.stride + offset_in_row, visited, length);
    visited += length;
  }
}

class PendingReadWithGaps : public store::Pending {
 public:
  PendingReadWithGaps(PartStore& store, std::vector<store::ReadSegment> segments)
      : store_(store), segments_(std::move(segments)) {}
  void complete() override {
    for (const store::ReadSegment& segment : segments_) store_.read_with_gaps(segment);
  }

 private:
  PartStore& store_;
  std::vector<store::ReadSegment> segments_;
};

}  // namespace

PartStore::PartStore(std::shared_ptr<store::Store> whole, const Rows& rows, std::string name)
    : whole_(std::move(whole)), rows_(rows), name_(std::move(name)) {}

void PartStore::check_range(std::int64_t offset, std::int64_t bytes) const {
  const std::int64_t size = rows_.row_bytes * rows_.count;
  if (offset >= 0 && offset <= size && bytes <= size - offset) return;
  base::throw_system_error(EINVAL, "cannot access ", bytes, " bytes at offset ", offset, " of ", name_, ", which has ",
                           size);
}

std::unique_ptr<store::Pending> PartStore::submit_read(std::vector<store::ReadSegment> segments) {
  for (const store::ReadSegment& segment : segments) check_range(segment.offset, segment.bytes);
  if (rows_.count > 1 && rows_.row_bytes < kMaxGapBytes && rows_.stride - rows_.row_bytes < kMaxGapBytes)
    return std::make_unique<PendingReadWithGaps>(*this, std::move(segments));
  std::vector<store::ReadSegment> pieces;
  pieces.reserve(segments.size());
  for (const store::ReadSegment& segment : segments)
    for_each_piece(rows_, segment.offset, segment.bytes,
                   [&](std::int64_t whole_offset, std::int64_t segment_offset, std::int64_t length) {
                     pieces.push_back({whole_offset, segment.data + segment_offset, length});
                   });
  return whole_->submit_read(std::move(pieces));
}

std::unique_ptr<store::Pending> PartStore::submit_write(std::vector<store::WriteSegment> segments) {
  std::vector<store::WriteSegment> pieces;
  pieces.reserve(segments.size());
  for (const store::WriteSegment& segment : segments) {
    check_range(segment.offset, segment.bytes);
    for_each_piece(rows_, segment.offset, segment.bytes,
                   [&](std::int64_t whole_offset, std::int64_t segment_offset, std::int64_t length) {
                     pieces.push_back({whole_offset, segment.data + segment_offset, length});
                   });
  }
  return whole_->submit_write(std::move(pieces));
}

void PartStore::read_with_gaps(const store::ReadSegment& segment) {
  std::vector<std::byte> block;
  std::vector<store::ReadSegment> pieces;  // pieces of the next block
  const auto read_block = [&] {
    if (pieces.empty()) return;
    const std::int64_t begin = pieces.front().offset;
    const std::int64_t bytes = pieces.back().offset + pieces.back().bytes - begin;
    block.resize(static_cast<std::size_t>(bytes));
    whole_->read({{begin, block.data(), bytes}});
    for (const store::ReadSegment& piece : pieces)
      std::memcpy(piece.data, block.data() + (piece.offset - begin), static_cast<std::size_t>(piece.bytes));
    pieces.clear();
  };
  for_each_piece(rows_, segment.offset, segment.bytes,
                 [&](std::int64_t whole_offset, std::int64_t segment_offset, std::int64_t length) {
                   if (!pieces.empty() && whole_offset + length - pieces.front().offset > kMaxBlockBytes) read_block();
                   pieces.push_back({whole_offset, segment.data + segment_offset, length});
                 });
  read_block();
}

}  // namespace plait::container
