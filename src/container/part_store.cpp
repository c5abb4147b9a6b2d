// Accessing a part of a file that consists of equal rows at equal distances, such as a netCDF variable with records.
//
// Offset o of the part is byte o mod row of row o / row, and has the offset begin + o / row * stride + o mod row in the
// whole.
// Example: rows of 6 bytes from offset 100 on, 16 bytes apart. A read of 8 bytes at offset 4 of the part takes 2 bytes
// at 100 + 4 = 104 and 6 bytes at 116. Two small requests would cost more than the 10 bytes between the rows, so that
// read_together() reads 104..121 at once.

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

// Maximum length of rows, and of the gaps between them, that are read together. A request costs about 10 us, in which
// 10 to 16 KiB can be read.
constexpr std::int64_t kMaxGap = std::int64_t{16} << 10;
constexpr std::int64_t kBlock = std::int64_t{1} << 20;

/// Calls `take` for each piece of a segment with its offset in the whole, its offset in the segment, and its length.
template <typename Take>
void for_each_piece(const Rows& rows, std::int64_t offset, std::int64_t bytes, const Take& take) {
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t row = (offset + done) / rows.row;
    const std::int64_t within = (offset + done) % rows.row;
    const std::int64_t length = std::min(rows.row - within, bytes - done);
    take(rows.begin + row * rows.stride + within, done, length);
    done += length;
  }
}

class PendingTogether : public store::Pending {
 public:
  PendingTogether(PartStore& store, std::vector<store::ReadSegment> segments)
      : store_(store), segments_(std::move(segments)) {}
  void complete() override {
    for (const store::ReadSegment& segment : segments_) store_.read_together(segment);
  }

 private:
  PartStore& store_;
  std::vector<store::ReadSegment> segments_;
};

}  // namespace

PartStore::PartStore(std::shared_ptr<store::Store> whole, const Rows& rows, std::string name)
    : whole_(std::move(whole)), rows_(rows), name_(std::move(name)) {}

void PartStore::check(std::int64_t offset, std::int64_t bytes) const {
  const std::int64_t size = rows_.row * rows_.count;
  if (offset >= 0 && offset <= size && bytes <= size - offset) return;
  base::throw_system_error(EINVAL, "cannot access ", bytes, " bytes at offset ", offset, " of ", name_, ", which has ",
                           size);
}

std::unique_ptr<store::Pending> PartStore::submit_read(std::vector<store::ReadSegment> segments) {
  for (const store::ReadSegment& segment : segments) check(segment.offset, segment.bytes);
  if (rows_.count > 1 && rows_.row < kMaxGap && rows_.stride - rows_.row < kMaxGap)
    return std::make_unique<PendingTogether>(*this, std::move(segments));
  std::vector<store::ReadSegment> pieces;
  pieces.reserve(segments.size());
  for (const store::ReadSegment& segment : segments)
    for_each_piece(rows_, segment.offset, segment.bytes, [&](std::int64_t at, std::int64_t done, std::int64_t length) {
      pieces.push_back({at, segment.data + done, length});
    });
  return whole_->submit_read(std::move(pieces));
}

std::unique_ptr<store::Pending> PartStore::submit_write(std::vector<store::WriteSegment> segments) {
  std::vector<store::WriteSegment> pieces;
  pieces.reserve(segments.size());
  for (const store::WriteSegment& segment : segments) {
    check(segment.offset, segment.bytes);
    for_each_piece(rows_, segment.offset, segment.bytes, [&](std::int64_t at, std::int64_t done, std::int64_t length) {
      pieces.push_back({at, segment.data + done, length});
    });
  }
  return whole_->submit_write(std::move(pieces));
}

void PartStore::read_together(const store::ReadSegment& segment) {
  std::vector<std::byte> block;
  std::vector<store::ReadSegment> pieces;
  const auto copy_out = [&] {
    if (pieces.empty()) return;
    const std::int64_t begin = pieces.front().offset;
    const std::int64_t bytes = pieces.back().offset + pieces.back().bytes - begin;
    block.resize(static_cast<std::size_t>(bytes));
    whole_->read({{begin, block.data(), bytes}});
    for (const store::ReadSegment& piece : pieces)
      std::memcpy(piece.data, block.data() + (piece.offset - begin), static_cast<std::size_t>(piece.bytes));
    pieces.clear();
  };
  for_each_piece(rows_, segment.offset, segment.bytes, [&](std::int64_t at, std::int64_t done, std::int64_t length) {
    if (!pieces.empty() && at + length - pieces.front().offset > kBlock) copy_out();
    pieces.push_back({at, segment.data + done, length});
  });
  copy_out();
}

}  // namespace plait::container
