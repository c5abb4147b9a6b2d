// Transposing a chunk between the array's order and the stored one, as one strided copy.
//
// Example: chunk (2, 3, 4) of elements of 8 bytes, stored_order = (2, 0, 1): the stored chunk has the shape (4, 2, 3).
// In the array's chunk the strides of the dimensions are 96, 32 and 8 bytes. The loops, slowest stored dimension first,
// are 4 elements with strides 48 (stored) and 8 (array), 2 with 24 and 96, and 3 with 8 and 32.

#include "container/zarr/transposed.hpp"

#include <cstdint>
#include <vector>

#include "copy/strided_copy.hpp"

namespace plait::container::zarr {

void transpose(const Metadata& metadata, TransposeDirection direction, std::span<const std::byte> from,
               std::span<std::byte> to) {
  const std::int64_t element = metadata.type.element_bytes;
  const std::size_t count = metadata.chunk.size();
  Extents in_array(count);
  std::int64_t stride = element;
  for (std::size_t d = count; d-- > 0; stride *= metadata.chunk[d]) in_array[d] = stride;
  std::vector<copy::Loop> loops(count);
  stride = element;
  for (std::size_t i = count; i-- > 0;) {
    const std::size_t d = metadata.stored_order[i];
    loops[i] = {metadata.chunk[d], stride, in_array[d]};
    if (direction == TransposeDirection::kFile) std::swap(loops[i].source_stride, loops[i].target_stride);
    stride *= metadata.chunk[d];
  }
  copy::strided_copy(to.data(), from.data(), element, loops, copy::Destination::kCaches);
}

}  // namespace plait::container::zarr
