// Chunks of a section: which elements of each chunk are in the section, and at which positions.
//
// The problem.  An array stored in chunks is read and written chunk by chunk, so positions of a section count the
// elements of the first chunk, then those of the second one, and so on.  Chunks at the edges of the array or of the
// section have fewer elements of it than others, and an array may have more chunks than memory can list.  So both the
// chunk of a position and the first position of a chunk are computed from the numbers of one chunk.
//
// The idea.  The chunks that have elements of the section form a grid, whose lines in one dimension are called rows
// here.  The elements before a box of the grid are those of the rows before it in each dimension, where the box's own
// rows bound the slower dimensions: `slower` is the product of the box's extents in the slower dimensions and `faster`
// the product of the section's extents in the faster ones, so that the dimension adds slower * (indices before the box)
// * faster.  Divisions by slower * faster invert this, from the slowest dimension to the fastest.  Shards are boxes of
// chunks, so the same sum counts the elements before a shard, then those before the chunk within its shard; and with
// rows instead of indices it counts chunks.
//
// Example: rows 1 to 3 of a 5x6 array in chunks of 2x4 elements.  Each chunk takes 8 elements in the file, also at the
// edges.  The section has 3x6 = 18 elements, in 4 of the 6 chunks:
//
//   chunk  of the array          shape in the section  first position  first element in the file
//   0      row 1, columns 0-3    1x4                    0               4
//   1      row 1, columns 4-5    1x2                    4              12
//   2      rows 2-3, columns 0-3 2x4                    6              16
//   3      rows 2-3, columns 4-5 2x2                   14              24
//
// first_position(3): the first dimension has 1 index before chunk 3, which adds 1 * 1 * 6 = 6 (slower = 1, faster = 6);
// the second one has 4 columns before it, which adds 2 * 4 * 1 = 8 (slower = 2, faster = 1): 14.  number_at(13) inverts
// this: 13 / (1 * 6) = 2 is an index of the second row of chunks, which begins at index 1, so 13 - 1 * 6 = 7 positions
// are left within this row of 2 indices; 7 / (2 * 1) = 3 is a column of the first column of chunks, so the chunk is
// number 2.
//
// In shards of 4x4 elements the order is shard by shard.  The chunks of columns 0-3 come first: numbers 0 and 1 are
// then the 1x4 and the 2x4 elements of the first shard, with the positions 0 to 11, and the second shard has 12 to 17.

#include "plan/section/chunks.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"

namespace plait::plan {

namespace {

void check_chunk(const Extents& array, const Extents& chunk) {
  const bool fits = chunk.size() == array.size() && std::ranges::all_of(chunk, [](auto size) { return size > 0; });
  if (fits) return;
  base::throw_argument_error("an array ", shape_to_string(array), " cannot lie in chunks of ", shape_to_string(chunk),
                             "; give a size of 1 or more for each dimension");
}

void check_shard(const Extents& chunk, const Extents& shard) {
  bool fits = shard.size() == chunk.size();
  for (std::size_t d = 0; fits && d < chunk.size(); ++d) fits = shard[d] > 0 && shard[d] % chunk[d] == 0;
  if (fits) return;
  base::throw_argument_error("shards of ", shape_to_string(shard), " are not made of whole chunks of ",
                             shape_to_string(chunk), "; give multiples of these sizes");
}

/// Returns the extents of the array, rounded up to whole units.
Extents filled_up(const Extents& array, const Extents& unit) {
  Extents whole;
  for (std::size_t d = 0; d < array.size(); ++d)
    whole.push_back(base::checked_multiply(base::ceil_divide(array[d], unit[d]), unit[d], "elements of the file"));
  return whole;
}

std::int64_t product(const Extents& extents) {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents) result *= extent;
  return result;
}

}  // namespace

std::int64_t count_padded_elements(const Extents& array, const Extents& chunk, const Extents& shard) {
  if (chunk.empty()) return base::checked_product(array, "elements of the array");
  check_chunk(array, chunk);
  if (!shard.empty()) check_shard(chunk, shard);
  return base::checked_product(filled_up(array, shard.empty() ? chunk : shard), "elements of the file");
}

Chunks::Chunks(const Extents& array, const Extents& chunk, Slices slices, const Extents& shard)
    : slices_(std::move(slices)),
      chunk_(chunk),
      strides_(array.size()),
      chunk_strides_(array.size()),
      shard_strides_(array.size()),
      in_shards_(!shard.empty()) {
  count_padded_elements(array, chunk, shard);
  shard_ = in_shards_ ? shard : filled_up(array, chunk);
  for (std::size_t d = 0; d < array.size(); ++d) shard_[d] = std::max(shard_[d], chunk[d]);  // 0 for an empty array
  for (std::size_t d = array.size(); d-- > 0;) {
    strides_[d] = padded_elements_;
    padded_elements_ = base::checked_multiply(padded_elements_, chunk[d], "elements of a chunk");
  }
  std::int64_t distance = padded_elements_;
  for (std::size_t d = array.size(); d-- > 0; distance *= shard_[d] / chunk[d]) chunk_strides_[d] = distance;
  for (std::size_t d = array.size(); d-- > 0; distance *= base::ceil_divide(array[d], shard_[d]))
    shard_strides_[d] = distance;
  for (std::size_t d = 0; d < array.size(); ++d) {
    const std::int64_t count = slices_.count[d];
    rows_.push_back(count_rows(chunk_, d));
    shard_rows_.push_back(count_rows(shard_, d));
    count_ *= rows_[d];
    shards_ *= shard_rows_[d];
    largest_ *= std::min(count, base::ceil_divide(chunk[d], slices_.stride[d]));
    elements_ *= count;
  }
}

// If the stride is longer than a box, there are boxes without an element between two indices, and each index has a row
// of its own.  Otherwise rows count boxes from the one that has the first index: with a stride of 3 from index 2 on and
// boxes of 4, the indices 2, 5, 8 and 11 are in the rows 0, 1, 2 and 2.

std::int64_t Chunks::row_at(const Extents& box, std::size_t d, std::int64_t index) const {
  if (slices_.stride[d] > box[d]) return index;
  return (slices_.start[d] + index * slices_.stride[d]) / box[d] - slices_.start[d] / box[d];
}

std::int64_t Chunks::row_begin(const Extents& box, std::size_t d, std::int64_t row) const {
  if (row == 0 || slices_.stride[d] > box[d]) return std::min(row, slices_.count[d]);
  const std::int64_t first = (slices_.start[d] / box[d] + row) * box[d];
  return std::min(base::ceil_divide(first - slices_.start[d], slices_.stride[d]), slices_.count[d]);
}

std::int64_t Chunks::count_rows(const Extents& box, std::size_t d) const {
  return slices_.count[d] > 0 ? row_at(box, d, slices_.count[d] - 1) + 1 : 0;
}

std::int64_t Chunks::contiguous_elements() const {
  std::int64_t run = 1;
  for (std::size_t d = chunk_.size(); d-- > 0;) {
    if (slices_.stride[d] > 1) break;
    run *= std::min(chunk_[d], slices_.count[d]);
    if (slices_.count[d] < chunk_[d]) break;
  }
  return run;
}

std::int64_t Chunks::file_position(const Extents& index) const {
  std::int64_t position = 0;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const std::int64_t in_array = slices_.start[d] + index[d] * slices_.stride[d];
    const std::int64_t in_shard = in_array % shard_[d];
    position += in_array / shard_[d] * shard_strides_[d] + in_shard / chunk_[d] * chunk_strides_[d] +
                in_shard % chunk_[d] * strides_[d];
  }
  return position;
}

Chunks::Rows Chunks::shard_chunk_rows(const Extents& shard_rows) const {
  Rows rows{Extents(shard_rows.size()), Extents(shard_rows.size())};
  for (std::size_t d = 0; d < shard_rows.size(); ++d) {
    const bool last = shard_rows[d] + 1 == shard_rows_[d];
    rows.lo[d] = row_at(chunk_, d, row_begin(shard_, d, shard_rows[d]));
    rows.count[d] = (last ? rows_[d] : row_at(chunk_, d, row_begin(shard_, d, shard_rows[d] + 1))) - rows.lo[d];
  }
  return rows;
}

Extents Chunks::to_shard_rows(const Extents& rows) const {
  Extents result(rows.size());
  for (std::size_t d = 0; d < rows.size(); ++d) result[d] = row_at(shard_, d, row_begin(chunk_, d, rows[d]));
  return result;
}

// The next two functions count chunks as the beginning of this file counts elements.  The chunks before a shard are a
// sum over the dimensions d: the chunks in lower rows of shards along d that are in the shard's own rows along all
// slower dimensions.  `slower` is the product of the shard's extents, `faster` that of the grid's.

Extents Chunks::rows_at(std::int64_t number, Rows& shard) const {
  const std::size_t dimensions = chunk_.size();
  Extents shard_rows(dimensions);
  std::int64_t slower = 1;
  std::int64_t faster = count_;
  for (std::size_t d = 0; d < dimensions; ++d) {
    faster /= rows_[d];
    const std::int64_t row = number / (slower * faster);
    shard_rows[d] = row_at(shard_, d, row_begin(chunk_, d, row));
    const bool last = shard_rows[d] + 1 == shard_rows_[d];
    const std::int64_t lo = row_at(chunk_, d, row_begin(shard_, d, shard_rows[d]));
    const std::int64_t hi = last ? rows_[d] : row_at(chunk_, d, row_begin(shard_, d, shard_rows[d] + 1));
    number -= slower * lo * faster;
    slower *= hi - lo;
  }
  shard = shard_chunk_rows(shard_rows);
  Extents rows(dimensions);
  for (std::size_t d = dimensions; d-- > 0; number /= shard.count[d]) rows[d] = shard.lo[d] + number % shard.count[d];
  return rows;
}

std::int64_t Chunks::chunk_number(const Extents& rows) const {
  const Rows shard = shard_chunk_rows(to_shard_rows(rows));
  std::int64_t number = 0;
  std::int64_t inside = 0;
  std::int64_t slower = 1;
  std::int64_t faster = count_;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    faster /= rows_[d];
    number += slower * shard.lo[d] * faster;
    slower *= shard.count[d];
    inside = inside * shard.count[d] + rows[d] - shard.lo[d];
  }
  return number + inside;
}

ChunkPart Chunks::part(std::int64_t number) const {
  const std::size_t dimensions = chunk_.size();
  ChunkPart part{Extents(dimensions), Extents(dimensions), Extents(dimensions), 0, 0, 1};
  Rows shard;
  const Extents rows = rows_at(number, shard);
  Extents first(dimensions);  // section index of the shard's first element
  std::int64_t whole = 1;     // elements of the section in the shard
  std::int64_t faster = elements_;
  for (std::size_t d = 0; d < dimensions; ++d) {
    part.lo[d] = row_begin(chunk_, d, rows[d]);
    part.shape[d] = row_begin(chunk_, d, rows[d] + 1) - part.lo[d];
    part.strides[d] = strides_[d] * slices_.stride[d];
    first[d] = row_begin(chunk_, d, shard.lo[d]);
    faster /= slices_.count[d];
    part.position += whole * first[d] * faster;
    whole *= row_begin(chunk_, d, shard.lo[d] + shard.count[d]) - first[d];
  }
  part.file = file_position(part.lo);
  std::int64_t slower = 1;
  faster = whole;
  for (std::size_t d = 0; d < dimensions; ++d) {
    faster /= row_begin(chunk_, d, shard.lo[d] + shard.count[d]) - first[d];
    part.position += slower * (part.lo[d] - first[d]) * faster;
    slower *= part.shape[d];
  }
  part.elements = slower;
  return part;
}

std::int64_t Chunks::first_position(std::int64_t number) const {
  return number < count_ ? part(number).position : elements_;
}

std::int64_t Chunks::number_at(std::int64_t position) const {
  if (position >= elements_) return count_;
  const std::size_t dimensions = chunk_.size();
  Extents first(dimensions);
  Extents size(dimensions);
  std::int64_t slower = 1;
  std::int64_t faster = elements_;
  for (std::size_t d = 0; d < dimensions; ++d) {
    faster /= slices_.count[d];
    const std::int64_t row = row_at(shard_, d, position / (slower * faster));
    first[d] = row_begin(shard_, d, row);
    size[d] = row_begin(shard_, d, row + 1) - first[d];
    position -= slower * first[d] * faster;
    slower *= size[d];
  }
  Extents rows(dimensions);
  faster = slower;
  slower = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    faster /= size[d];
    rows[d] = row_at(chunk_, d, first[d] + position / (slower * faster));
    const std::int64_t lo = row_begin(chunk_, d, rows[d]);
    position -= slower * (lo - first[d]) * faster;
    slower *= row_begin(chunk_, d, rows[d] + 1) - lo;
  }
  return chunk_number(rows);
}

std::int64_t Chunks::first_in_shard(std::int64_t shard) const {
  if (shard >= shards_) return count_;
  Extents shard_rows(chunk_.size());
  for (std::size_t d = chunk_.size(); d-- > 0; shard /= shard_rows_[d]) shard_rows[d] = shard % shard_rows_[d];
  return chunk_number(shard_chunk_rows(shard_rows).lo);
}

std::int64_t Chunks::find_shard(std::int64_t number) const {
  if (number >= count_) return shards_;
  Rows ignored;
  const Extents shard_rows = to_shard_rows(rows_at(number, ignored));
  std::int64_t shard = 0;
  for (std::size_t d = 0; d < shard_rows.size(); ++d) shard = shard * shard_rows_[d] + shard_rows[d];
  return shard;
}

std::int64_t Chunks::next_wanted(std::int64_t number,
                                 base::FunctionRef<std::int64_t(std::size_t, std::int64_t)> next) const {
  std::int64_t shard = find_shard(number);
  for (std::int64_t inside = number - first_in_shard(shard); shard < shards_; inside = 0) {
    Rows rows;
    rows_at(first_in_shard(shard), rows);
    const std::int64_t found =
        next_in_product(rows.count, inside, [&](std::size_t d, std::int64_t row) -> std::int64_t {
          const std::int64_t index = next(d, row_begin(chunk_, d, rows.lo[d] + row));
          if (index >= row_begin(chunk_, d, rows.lo[d] + rows.count[d])) return rows.count[d];
          return row_at(chunk_, d, index) - rows.lo[d];
        });
    if (found < product(rows.count)) return first_in_shard(shard) + found;
    // Shards without a wanted index in one of the dimensions are skipped.
    shard = next_in_product(shard_rows_, shard + 1, [&](std::size_t d, std::int64_t row) -> std::int64_t {
      const std::int64_t index = row < shard_rows_[d] ? next(d, row_begin(shard_, d, row)) : slices_.count[d];
      return index < slices_.count[d] ? row_at(shard_, d, index) : shard_rows_[d];
    });
  }
  return count_;
}

std::int64_t next_in_product(const Extents& shape, std::int64_t position,
                             base::FunctionRef<std::int64_t(std::size_t, std::int64_t)> next) {
  const std::size_t dimensions = shape.size();
  const std::int64_t elements = product(shape);
  if (position >= elements) return elements;
  Extents index(dimensions);
  for (std::size_t d = dimensions; d-- > 0;) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  // The first dimension whose index is not wanted advances to the next wanted one and resets all faster ones.  If it
  // has none, the next slower dimension advances.  Example: of a 3x4 array the rows 0 and 2 and the column 1 are
  // wanted, and position 2 is index (0, 2).  Column 2 has no wanted one after it, so the row advances to (1, 0), which
  // is not wanted either, then to (2, 0), and the column to (2, 1): position 9.
  std::size_t d = 0;
  while (d < dimensions) {
    const std::int64_t found = next(d, index[d]);
    if (found < shape[d]) {
      if (found != index[d])
        for (std::size_t e = d + 1; e < dimensions; ++e) index[e] = 0;
      index[d] = found;
      ++d;
      continue;
    }
    if (d == 0) return elements;
    for (std::size_t e = d; e < dimensions; ++e) index[e] = 0;
    --d;
    ++index[d];
  }
  std::int64_t result = 0;
  for (std::size_t e = 0; e < dimensions; ++e) result = result * shape[e] + index[e];
  return result;
}

}  // namespace plait::plan
