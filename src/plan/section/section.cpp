// Sections of arrays: positions in the file, and ranges of positions as boxes.
//
// A range [begin, end) of the positions of a dense N-dimensional array is cut into at most 2N-1 boxes: along the
// slowest dimension a partial first row, whole rows, and a partial last row. The partial rows are cut in the same way
// in the faster dimensions.
//
// Example: positions [2, 15) of a 4x6 array. Row 0 has the columns 2 to 5 (box [0,1) x [2,6), at 0 of the range), row 1
// is whole (box [1,2) x [0,6), at 4), and row 2 has the columns 0 to 2 (box [2,3) x [0,3), at 10).

#include "plan/section/section.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/int128.hpp"
#include "base/text.hpp"

namespace plait {

std::string to_string(const Region& region) {
  if (region.empty()) return "[whole]";
  std::string out = "[";
  for (std::size_t d = 0; d < region.size(); ++d) {
    const Slice& slice = region[d];
    base::append_parts(out, d == 0 ? "" : ", ", slice.start);
    if (slice.single) continue;
    // Error messages print invalid slices too, so the end is computed without overflow.
    const auto end = slice.start + static_cast<base::Int128>(slice.count - 1) * slice.stride + 1;
    base::append_parts(out, ':', slice.count == 0 ? slice.start : base::saturate(end));
    if (slice.stride != 1) base::append_parts(out, ':', slice.stride);
  }
  return out + ']';
}

namespace plan {

namespace {

void check_slice(const Slice& slice, std::size_t dimension, std::int64_t size) {
  const auto fail = [&](const std::string& found) {
    base::throw_argument_error("region, dimension ", dimension, ": ", found, ", but the dimension has ", size,
                               " indices; use a slice inside it with a stride of 1 or more");
  };
  if (slice.stride < 1) fail(base::text("the stride is ", slice.stride));
  if (slice.count < 0 || slice.start < 0) fail(base::text("start ", slice.start, ", count ", slice.count));
  if (slice.single && slice.count != 1) fail("a single index with a count other than 1");
  if (slice.count == 0) return;
  const bool inside = slice.start < size && slice.count - 1 <= (size - 1 - slice.start) / slice.stride;
  if (!inside) fail(base::text("start ", slice.start, ", count ", slice.count, ", stride ", slice.stride));
}

}  // namespace

Section::Section(const Extents& file_shape, Order file_order, const Region& region, const Extents& chunk,
                 const Extents& shard) {
  if (!region.empty() && region.size() != file_shape.size())
    base::throw_argument_error("the region ", to_string(region), " has ", region.size(), " dimensions, but the array ",
                               shape_to_string(file_shape), " has ", file_shape.size(), "; give one slice for each");
  const std::size_t dimensions = file_shape.size();
  shape.resize(dimensions);
  strides.resize(dimensions);
  layout_dimension.assign(dimensions, -1);
  std::vector<int> layout_axis(dimensions, -1);
  std::vector<Slice> slices(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    slices[d] = region.empty() ? Slice{0, file_shape[d], 1, false} : region[d];
    check_slice(slices[d], d, file_shape[d]);
    // A start or stride that is not used may have any value, as in a[0:1:10**18], and must not overflow below.
    if (slices[d].count <= 1) slices[d].stride = 1;
    if (slices[d].count == 0) slices[d].start = 0;
    if (slices[d].single) continue;
    layout_axis[d] = static_cast<int>(layout_shape.size());
    layout_shape.push_back(slices[d].count);
  }
  const bool empty_file = std::find(file_shape.begin(), file_shape.end(), 0) != file_shape.end();
  std::int64_t distance = empty_file ? 0 : 1;
  for (std::size_t i = dimensions; i-- > 0;) {
    const std::size_t d = file_order == Order::kC ? i : dimensions - 1 - i;
    shape[i] = slices[d].count;
    strides[i] = distance * slices[d].stride;
    origin += distance * slices[d].start;
    layout_dimension[i] = layout_axis[d];
    distance = base::checked_multiply(distance, file_shape[d], "elements of the file");
  }
  elements = base::checked_product(shape, "elements of the region");
  if (chunk.empty()) return;
  Extents array(file_shape);
  Extents part(chunk);
  Extents whole(shard);
  if (file_order == Order::kFortran) {
    std::ranges::reverse(slices);
    std::ranges::reverse(array);
    std::ranges::reverse(part);
    std::ranges::reverse(whole);
  }
  Slices all;
  for (const Slice& slice : slices) {
    all.start.push_back(slice.start);
    all.stride.push_back(slice.stride);
    all.count.push_back(slice.count);
  }
  chunks.emplace(array, part, std::move(all), whole);
}

void Section::check_layout(const Layout& layout) const {
  if (layout.shape() == layout_shape) return;
  base::throw_argument_error("the layout is of an array ", shape_to_string(layout.shape()), ", but the ",
                             layout_shape.size() == shape.size() ? "accessed part of the file" : "region", " is ",
                             shape_to_string(layout_shape));
}

std::int64_t Section::contiguous_elements() const {
  return chunks ? chunks->contiguous_elements() : plan::contiguous_elements(shape, strides);
}

std::int64_t Section::file_position(const Extents& index) const {
  if (chunks) return chunks->file_position(index);
  std::int64_t position = origin;
  for (std::size_t d = 0; d < index.size(); ++d) position += index[d] * strides[d];
  return position;
}

std::vector<Box> Section::boxes(std::int64_t begin, std::int64_t end) const {
  if (!chunks) return cut_boxes(shape, begin, end);
  std::vector<Box> result;
  for_each_part(*chunks, begin, end, [&](const ChunkPart& part, std::int64_t from, std::int64_t to) {
    Extents dense(part.shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = dense.size(); d-- > 0; stride *= part.shape[d]) dense[d] = stride;
    for (Box& box : cut_boxes(part.shape, from, to)) {
      for (std::size_t d = 0; d < dense.size(); ++d) {
        box.lo[d] += part.lo[d];
        box.hi[d] += part.lo[d];
      }
      box.position += part.position + from - begin;
      box.strides = dense;
      result.push_back(std::move(box));
    }
  });
  return result;
}

std::int64_t contiguous_elements(const Extents& shape, const Extents& strides) {
  std::int64_t run = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (strides[d] != run) break;
    run *= shape[d];
  }
  return run;
}

namespace {

/// Cuts a range of positions into boxes by recursion over the dimensions, slowest first.
class BoxCutter {
 public:
  BoxCutter(const Extents& shape, std::int64_t begin) : shape_(shape), begin_(begin), below_(shape.size() + 1, 1) {
    for (std::size_t d = shape.size(); d-- > 0;) below_[d] = below_[d + 1] * shape[d];
    prefix_.resize(shape.size());
  }

  /// Cuts positions [from, to) of the sub-array of dimension d and the faster ones, whose first element has position
  /// `base`.
  void cut(std::size_t d, std::int64_t base, std::int64_t from, std::int64_t to) {
    if (from >= to) return;
    if (d == shape_.size()) {
      emit(d, 0, 0, base);
      return;
    }
    const std::int64_t inner = below_[d + 1];
    std::int64_t first = from / inner;
    const std::int64_t last = to / inner;
    const std::int64_t head = from % inner;
    if (first == last) {
      prefix_[d] = first;
      cut(d + 1, base + first * inner, head, to % inner);
      return;
    }
    if (head > 0) {
      prefix_[d] = first;
      cut(d + 1, base + first * inner, head, inner);
      ++first;
    }
    if (first < last) emit(d, first, last, base + first * inner);
    prefix_[d] = last;
    cut(d + 1, base + last * inner, 0, to % inner);
  }

  std::vector<Box> take() { return std::move(boxes_); }

 private:
  void emit(std::size_t d, std::int64_t lo, std::int64_t hi, std::int64_t position) {
    Box box;
    box.position = position - begin_;
    for (std::size_t e = 0; e < shape_.size(); ++e) {
      box.lo.push_back(e < d ? prefix_[e] : e == d ? lo : 0);
      box.hi.push_back(e < d ? prefix_[e] + 1 : e == d ? hi : shape_[e]);
    }
    boxes_.push_back(std::move(box));
  }

  const Extents& shape_;
  std::int64_t begin_;
  Extents below_;   // below_[d]: elements of the dimensions d and faster
  Extents prefix_;  // index in the dimensions slower than that of the current call of cut()
  std::vector<Box> boxes_;
};

}  // namespace

std::vector<Box> cut_boxes(const Extents& shape, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return {};
  BoxCutter cutter(shape, begin);
  cutter.cut(0, 0, begin, end);
  return cutter.take();
}

}  // namespace plan
}  // namespace plait
