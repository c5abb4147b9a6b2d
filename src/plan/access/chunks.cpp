#include "plan/access/chunks.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::plan {

namespace {

void check_chunk(const Extents& array, const Extents& chunk) {
  const bool fits = chunk.size() == array.size() && std::ranges::all_of(chunk, [](auto size) { return size > 0; });
  if (fits) return;
  throw Error(ErrorKind::kArgument,
              base::text("an array ", shape_to_string(array), " cannot lie in chunks of ", shape_to_string(chunk),
                         "; give a size of 1 or more for each dimension"));
}

}  // namespace

std::int64_t elements_with_room(const Extents& array, const Extents& chunk) {
  if (chunk.empty()) return base::checked_product(array, "elements of the array");
  check_chunk(array, chunk);
  Extents whole;
  for (std::size_t d = 0; d < array.size(); ++d)
    whole.push_back(base::checked_multiply(base::ceil_divide(array[d], chunk[d]), chunk[d], "elements of the file"));
  return base::checked_product(whole, "elements of the file");
}

Chunks::Chunks(const Extents& array, const Extents& chunk, Slices slices)
    : slices_(std::move(slices)), chunk_(chunk), strides_(array.size()), row_strides_(array.size()) {
  elements_with_room(array, chunk);
  for (std::size_t d = array.size(); d-- > 0;) {
    strides_[d] = room_;
    room_ = base::checked_multiply(room_, chunk[d], "elements of a chunk");
  }
  std::int64_t distance = room_;
  for (std::size_t d = array.size(); d-- > 0;) {
    row_strides_[d] = distance;
    distance *= base::ceil_divide(array[d], chunk[d]);
  }
  for (std::size_t d = 0; d < array.size(); ++d) {
    const std::int64_t count = slices_.count[d];
    rows_.push_back(0);
    if (count > 0) rows_[d] = row_of(d, count - 1) + 1;
    const std::int64_t most = std::min(count, base::ceil_divide(chunk[d], slices_.step[d]));
    count_ *= rows_[d];
    largest_ *= most;
    elements_ *= count;
  }
}

// Where the step is longer than a chunk, chunks between two indices have nothing of the section, and each index has a
// row of its own.

std::int64_t Chunks::row_of(std::size_t d, std::int64_t index) const {
  if (slices_.step[d] > chunk_[d]) return index;
  return (slices_.start[d] + index * slices_.step[d]) / chunk_[d] - slices_.start[d] / chunk_[d];
}

std::int64_t Chunks::row_begin(std::size_t d, std::int64_t row) const {
  if (row == rows_[d]) return slices_.count[d];
  if (row == 0 || slices_.step[d] > chunk_[d]) return row;
  const std::int64_t first = (slices_.start[d] / chunk_[d] + row) * chunk_[d];
  return base::ceil_divide(first - slices_.start[d], slices_.step[d]);
}

std::int64_t Chunks::contiguous_elements() const {
  std::int64_t run = 1;
  for (std::size_t d = chunk_.size(); d-- > 0;) {
    if (slices_.step[d] > 1) break;
    run *= std::min(chunk_[d], slices_.count[d]);
    if (slices_.count[d] < chunk_[d]) break;
  }
  return run;
}

std::int64_t Chunks::file_position(const Extents& index) const {
  std::int64_t position = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const std::int64_t in_array = slices_.start[d] + index[d] * slices_.step[d];
    position += in_array / chunk_[d] * row_strides_[d] + in_array % chunk_[d] * strides_[d];
  }
  return position;
}

ChunkPart Chunks::part(std::int64_t number) const {
  const std::size_t dimensions = chunk_.size();
  ChunkPart part{Extents(dimensions), Extents(dimensions), Extents(dimensions), 0, 0, 1};
  for (std::size_t d = dimensions; d-- > 0;) {
    const std::int64_t row = number % rows_[d];
    number /= rows_[d];
    part.lo[d] = row_begin(d, row);
    part.shape[d] = row_begin(d, row + 1) - part.lo[d];
    part.steps[d] = strides_[d] * slices_.step[d];
  }
  part.file = file_position(part.lo);
  // In front of it lie the chunks of lower rows, in each dimension those that agree in all slower ones.
  std::int64_t slower = 1;
  std::int64_t faster = elements_;
  for (std::size_t d = 0; d < dimensions; ++d) {
    faster /= slices_.count[d];
    part.position += slower * part.lo[d] * faster;
    slower *= part.shape[d];
  }
  part.elements = slower;
  return part;
}

std::int64_t Chunks::position_of(std::int64_t number) const {
  return number < count_ ? part(number).position : elements_;
}

std::int64_t Chunks::number_at(std::int64_t position) const {
  if (position >= elements_) return count_;
  std::int64_t number = 0;
  std::int64_t slower = 1;
  std::int64_t faster = elements_;
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    faster /= slices_.count[d];
    const std::int64_t row = row_of(d, position / (slower * faster));
    const std::int64_t lo = row_begin(d, row);
    position -= slower * lo * faster;
    slower *= row_begin(d, row + 1) - lo;
    number = number * rows_[d] + row;
  }
  return number;
}

}  // namespace plait::plan
