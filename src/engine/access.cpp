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

namespace {

class Nothing : public Move {
 public:
  void run() override {}
};

}  // namespace

std::unique_ptr<Move> make_read(const Access& access) {
  if (access.plan.section().elements == 0) return std::make_unique<Nothing>();
  return access.plan.strategy() == plan::Strategy::kDirect ? make_direct_read(access) : make_two_phase_read(access);
}

std::unique_ptr<Move> make_write(const Access& access) {
  if (access.plan.section().elements == 0) return std::make_unique<Nothing>();
  return access.plan.strategy() == plan::Strategy::kDirect ? make_direct_write(access) : make_two_phase_write(access);
}

}  // namespace plait::engine
