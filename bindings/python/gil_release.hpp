/// Release of the interpreter's lock.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace plait::python {

/// Releases the interpreter's lock while it exists, so that other threads of Python run.
///
/// When the interpreter ends, a daemon thread that requests the lock never gets it. Up to Python 3.13 the interpreter
/// unwinds the thread at that point. Destructors do not let that pass, so the whole program would be aborted. The
/// thread waits for the end of the process instead, as later versions of Python do themselves.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() { restore(state_); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

  /// Acquires the lock again.
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
