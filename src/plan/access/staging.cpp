#include "plan/access/staging.hpp"

#include "base/checked.hpp"
#include "base/errors.hpp"

namespace plait::plan {

Staging::Staging(const SectionOwners& owners, const AccessTask& task, const AccessOptions& options, bool each_node)
    : memory_bytes_(options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes),
      element_bytes_(task.element_bytes),
      in_flight_(messages_in_flight(memory_bytes_, owners.max_positions())),
      message_buffers_(task.nodes_apart && !each_node ? static_cast<int>(2 * in_flight_ * owners.max_positions()) : 0),
      sieves_(!task.write && !owners.section().contiguous() &&
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
