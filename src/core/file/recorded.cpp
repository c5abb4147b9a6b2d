#include "core/file/recorded.hpp"

#include <algorithm>
#include <cstddef>

namespace plait::core {

Extent requested_extent(const plan::Section& section, const Layout& layout, std::int64_t rank,
                        std::int64_t element_bytes, std::int64_t data_offset) {
  if (rank < 0) {
    std::int64_t elements = 0;
    for (const std::int64_t rank_number : layout.rank_numbers()) elements += layout.local_elements(rank_number);
    const std::int64_t first = section.file_position(Extents(section.shape.size(), 0));
    return {data_offset + first * element_bytes, elements * element_bytes};
  }
  if (!layout.has_rank(rank)) return {data_offset, 0};
  Extents first(section.shape.size(), 0);
  const auto sets = layout.index_sets(rank);
  for (std::size_t d = 0; d < section.shape.size(); ++d) {
    const int dimension = section.layout_dimension[d];
    if (dimension < 0) continue;
    const IndexSet& set = sets[static_cast<std::size_t>(dimension)];
    if (!set.empty()) first[d] = set.at(0);
  }
  return {data_offset + section.file_position(first) * element_bytes, layout.local_elements(rank) * element_bytes};
}

}  // namespace plait::core
