/// Records the first error of several operations that are all carried out.
#pragma once

#include <exception>

#include "collective/agree.hpp"

namespace plait::collective {

/// Records the first error of a worker that other workers wait for. Such a worker continues after an error, and throws
/// it at the end.
/// threads  One at a time.
class FirstError {
 public:
  /// Runs `body` and records its exception if there is none yet.
  template <typename Body>
  void keep(Body&& body) {
    const std::exception_ptr error = caught(body);
    if (!error_) error_ = error;
  }
  /// Returns true if an error is recorded.
  bool any() const { return error_ != nullptr; }
  void clear() { error_ = nullptr; }
  /// Throws the recorded error, if there is one.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace plait::collective
