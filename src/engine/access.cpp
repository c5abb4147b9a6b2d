#include "engine/access.hpp"

#include "engine/direct.hpp"
#include "engine/two_phase.hpp"
#include "transport/gates.hpp"

namespace plait::engine {

void prepare(transport::Transport& transport) {
  for (int i = 0; i < transport::Gates::kSlots; ++i) {
    transport::Slot& slot = transport.gates().slot(transport.node_rank(), i);
    slot.filled.store(0, std::memory_order_relaxed);
    slot.taken.store(0, std::memory_order_relaxed);
  }
}

void read(const Access& access) {
  if (access.plan.section().elements == 0) return;
  if (access.plan.strategy() == plan::Strategy::kDirect) {
    read_direct(access);
  } else {
    read_two_phase(access);
  }
}

void write(const Access& access) {
  if (access.plan.section().elements == 0) return;
  if (access.plan.strategy() == plan::Strategy::kDirect) {
    write_direct(access);
  } else {
    write_two_phase(access);
  }
}

}  // namespace plait::engine
