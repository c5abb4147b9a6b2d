#include "base/wait/blocking_wait.hpp"

namespace plait::base {

namespace {

BlockingHooks& hooks() noexcept {
  static BlockingHooks hooks;
  return hooks;
}

}  // namespace

void set_blocking_hooks(BlockingHooks new_hooks) noexcept { hooks() = new_hooks; }

BlockingWait::BlockingWait() noexcept : released_(hooks().begin != nullptr ? hooks().begin() : nullptr) {}

BlockingWait::~BlockingWait() {
  if (released_ != nullptr) hooks().end(released_);
}

}  // namespace plait::base
