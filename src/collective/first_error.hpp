/// The first error of steps that are all carried out.
#pragma once

#include <exception>

#include "collective/agree.hpp"

namespace plait::collective {

/// For a worker that others wait for: after an error it only keeps them going, and throws at the end.
/// threads  One at a time.
class FirstError {
 public:
  /// Runs `body` and keeps what it throws where nothing was kept before.
  template <typename Body>
  void keep(Body&& body) {
    const std::exception_ptr error = caught(body);
    if (!error_) error_ = error;
  }
  bool any() const { return error_ != nullptr; }
  void clear() { error_ = nullptr; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace plait::collective
