// Resets the counters of this worker's windows before a collective call.

#include "collective/collective.hpp"

#include <atomic>

#include "transport/gates.hpp"

namespace plait::collective {

// Relaxed stores suffice: the agreement that follows orders them before any use of the slots.
void prepare(transport::Transport& transport) {
  for (int i = 0; i < transport::Gates::kSlots; ++i) {
    transport::Slot& slot = transport.gates().slot(transport.node_rank(), i);
    slot.filled.store(0, std::memory_order_relaxed);
    slot.taken.store(0, std::memory_order_relaxed);
    slot.claimed.store(0, std::memory_order_relaxed);
  }
}

}  // namespace plait::collective
