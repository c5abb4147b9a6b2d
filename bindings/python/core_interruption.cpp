#include <nanobind/nanobind.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "interruption.hpp"
#include "transport/native/interruption.hpp"

namespace nb = nanobind;

namespace plait::python {

namespace {

// Both are touched with Python's lock held.
std::optional<nb::python_error>& raised() {
  static auto* const kept = new std::optional<nb::python_error>();  // Python may have ended before statics do
  return *kept;
}

/// Python runs handlers in its main thread alone.
bool run_handlers() {
  if (::syscall(SYS_gettid) != ::getpid() || Py_IsInitialized() == 0) return false;
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  raised().emplace();
  return true;
}

}  // namespace

void heed_signals() { transport::native::set_interruption(run_handlers); }

bool raise_interruption() {
  if (!raised()) return false;
  nb::python_error error = std::move(*raised());
  raised().reset();
  error.restore();
  return true;
}

}  // namespace plait::python
