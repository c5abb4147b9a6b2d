/// Writes that have been started and that nobody has waited for yet.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "core/comm/worker.hpp"

namespace plait::core {

/// A write of a file that fails without anybody knowing is told when the file is closed.
/// threads  Any, at once: independent streams write on threads of their own.
class PendingWrites {
 public:
  /// Makes the room that keep() takes: once a write has started, remembering it must not fail.
  void reserve();
  /// Remembers a started write.
  void keep(const std::shared_ptr<Request::Impl>& write);
  /// A new file has lost a part on this rank alone: closing it is to fail on all ranks.
  void lose(const std::exception_ptr& error);
  /// The error of a write that nobody has waited for, or of a part that is lost; none the next time, so ask only where
  /// it is sure to be told.
  std::exception_ptr untold_error();

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Request::Impl>> writes_;
  std::exception_ptr lost_;
};

}  // namespace plait::core
