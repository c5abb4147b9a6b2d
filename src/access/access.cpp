#include "access/access.hpp"

#include "access/direct.hpp"
#include "access/two_phase.hpp"

namespace plait::access {

namespace {

/// A read or a write without elements.
class EmptyMove : public Move {
 public:
  void run() override {}
};

}  // namespace

std::unique_ptr<Move> make_read(const Access& access) {
  if (access.plan.section().elements == 0) return std::make_unique<EmptyMove>();
  return access.plan.strategy() == plan::Strategy::kDirect ? make_direct_read(access) : make_two_phase_read(access);
}

std::unique_ptr<Move> make_write(const Access& access) {
  if (access.plan.section().elements == 0) return std::make_unique<EmptyMove>();
  return access.plan.strategy() == plan::Strategy::kDirect ? make_direct_write(access) : make_two_phase_write(access);
}

}  // namespace plait::access
