/// A batch that is carried out when it is completed.
#pragma once

#include <functional>
#include <utility>

#include "store/store.hpp"

namespace plait::store {

/// A batch whose work is a function, which complete() calls. It suits stores that cannot start work in advance.
class PendingCall : public Pending {
 public:
  explicit PendingCall(std::function<void()> call) : call_(std::move(call)) {}
  void complete() override { call_(); }

 private:
  std::function<void()> call_;
};

}  // namespace plait::store
