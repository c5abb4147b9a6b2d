#include "core/comm/pending_writes.hpp"

#include <algorithm>
#include <utility>

namespace plait::core {

void PendingWrites::reserve() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(writes_, [](const auto& earlier) { return earlier->is_reported(); });
  writes_.reserve(writes_.size() + 1);
}

void PendingWrites::add(const std::shared_ptr<Request::Impl>& write) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(writes_, [](const auto& earlier) { return earlier->is_reported(); });
  writes_.push_back(write);
}

void PendingWrites::record_loss(const std::exception_ptr& error) {
  const std::scoped_lock lock(mutex_);
  if (!loss_) loss_ = error;
}

bool PendingWrites::has_error() {
  const std::scoped_lock lock(mutex_);
  return loss_ || std::ranges::any_of(writes_, [](const auto& write) { return !write->is_reported(); });
}

std::exception_ptr PendingWrites::unreported_error() {
  const std::scoped_lock lock(mutex_);
  std::exception_ptr first = std::exchange(loss_, nullptr);
  for (const auto& write : writes_)
    if (const std::exception_ptr error = write->unreported_error(); error && !first) first = error;
  writes_.clear();
  return first;
}

}  // namespace plait::core
