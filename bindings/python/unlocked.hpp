/// Work that needs nothing of Python.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace plait::python {

/// Lets other threads of Python run while it lives.
///
/// When the interpreter ends, a daemon thread that asks for its lock again gets it no more: up to Python 3.13 the
/// thread is unwound there, which no destructor lets pass, so that the whole program would be aborted.  It waits for
/// the end of the process instead, as later versions have it wait themselves.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() { restore(state_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  /// Takes the lock again.
  static void restore(PyThreadState* state) {
    try {
      PyEval_RestoreThread(state);
    } catch (const abi::__forced_unwind&) {
      while (true) ::pause();
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace plait::python
