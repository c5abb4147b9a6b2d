// Divides the staging memory of a rank into buffers, and computes window sizes that suit the caches.

#include "plan/access/staging.hpp"

#include <cstdlib>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "plan/access/costs.hpp"
#include "plan/conversion/partners.hpp"

namespace plait::plan {

ArrayNeighbours array_neighbours(const SectionOwners& owners, const AccessTask& task) {
  if (owners.section().elements <= static_cast<std::int64_t>(kCoreCacheBytes) / task.element_bytes) return {};
  const Layout& layout = owners.layout();
  const std::int64_t rank = layout.rank_at(Extents(layout.shape().size(), 0));
  const Extents strides = owners.local_strides(
      task.strides.empty() ? dense_strides(layout.padded_shape(rank), layout.order()) : task.strides);
  const Extents& shape = owners.section().shape;
  const Extents distances = dense_strides(shape);
  // The dimension with the smallest stride in the local array is the one in which neighbours are adjacent.
  ArrayNeighbours result;
  std::int64_t nearest = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t stride = std::abs(strides[d]);
    if (shape[d] < 2 || (nearest != 0 && stride >= nearest)) continue;
    nearest = stride;
    result = {std::max<std::int64_t>(distances[d], 1), shape[d]};
  }
  return result;
}

std::int64_t preferred_window_bytes(const SectionOwners& owners, std::int64_t bytes,
                                    const ArrayNeighbours& neighbours) {
  if (owners.section().elements / owners.layout().size() <= static_cast<std::int64_t>(kCoreCacheBytes) / bytes)
    return kWindowBytes;
  // The neighbours that fill a cache line, or all of them if the row is shorter than a line.
  const std::int64_t filling = std::min(base::ceil_divide(kLineBytes, bytes), neighbours.count);
  // The product is at most the size of the section.
  return std::max(kWindowBytes, neighbours.distance * filling * bytes);
}

Staging::Staging(const SectionOwners& owners, const AccessTask& task, const AccessOptions& options, bool each_node)
    : memory_bytes_(options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes),
      element_bytes_(task.element_bytes),
      in_flight_(messages_in_flight(memory_bytes_, owners.max_positions())),
      message_buffers_(task.nodes_apart && !each_node ? static_cast<int>(2 * in_flight_ * owners.max_positions()) : 0),
      // A store whose requests take long (`window_bytes` is set) reads all runs of a window at once, and reads across
      // gaps itself.
      sieves_(!task.write && !owners.section().contiguous() && options.window_bytes == 0 &&
              owners.section().contiguous_elements() < base::ceil_divide(kSieveGap, element_bytes_)) {}

std::int64_t Staging::max_window() const {
  const int buffers = kSlots + message_buffers_ + (sieves_ ? 1 : 0);
  const std::int64_t max = memory_bytes_ / buffers / element_bytes_;
  if (max < 1)
    base::throw_argument_error("memory=", memory_bytes_, " is too little: staging needs ", buffers,
                               " buffers of at least one element of ", element_bytes_, " bytes; use at least ",
                               buffers * element_bytes_, " bytes");
  return max;
}

std::int64_t Staging::sieve_bytes(std::int64_t window) const {
  return sieves_ ? std::min(window * element_bytes_, std::max(kSieveBytes, element_bytes_)) : 0;
}

std::int64_t Staging::bytes(std::int64_t window) const {
  return (kSlots + message_buffers_) * window * element_bytes_ + sieve_bytes(window);
}

}  // namespace plait::plan
