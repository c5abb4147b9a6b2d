/// Started writes whose errors are not reported yet.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "core/comm/worker.hpp"

namespace plait::core {

/// The started writes of a file.  Closing the file reports an error that no Request::wait() has thrown.
/// threads  Any, at once: independent streams write on threads of their own.
class PendingWrites {
 public:
  /// Allocates the memory for add(), which must not fail once a write has started.
  void reserve();
  void add(const std::shared_ptr<Request::Impl>& write);
  /// Makes closing a new file fail on all ranks, because this rank has not written a part of it.
  void record_loss(const std::exception_ptr& error);
  /// True if unreported_error() will return an error.
  bool has_error();
  /// Returns the first error that is not reported yet, of a started write or of record_loss(), and discards all of
  /// them: the caller must report it to all ranks.
  std::exception_ptr unreported_error();

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Request::Impl>> writes_;
  std::exception_ptr loss_;
};

}  // namespace plait::core
