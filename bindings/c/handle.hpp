/// The common part of the handles of the C interface: errors become a status and a message.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait.h"
#include "plait/error.hpp"

namespace plait::c {

struct Failure {
  plait_status status = PLAIT_OK;
  int code = 0;
  std::string text;
};

/// The base of every handle.
struct Handle {
  /// many_threads: true if several threads may use the handle at once, so that errors are stored with the thread.
  explicit Handle(bool many_threads = false) : is_used_by_many(many_threads) {}
  bool is_used_by_many;
  mutable Failure last_failure;
};

/// Records the current exception as the last error of this thread and, if there is one, of the handle.
plait_status record(const Handle* handle) noexcept;
/// Detaches the last error of this thread from a handle that is about to be freed.
void detach_error(const Handle* handle) noexcept;

/// Runs the body of a function, and converts its exception into a status.
template <typename Body>
plait_status guarded(const Handle* handle, Body&& body) noexcept {
  try {
    body();
    return PLAIT_OK;
  } catch (...) {
    return record(handle);
  }
}

/// Runs checks before a collective call.  If they throw, calls `report`, such as File::fail, with the message and the
/// system code, so that the other ranks get the error and do not wait.
template <typename Report, typename Body>
decltype(auto) run_checks(Report&& report, Body&& body) {
  std::string message;
  int code = 0;
  try {
    return body();
  } catch (const Error& error) {
    message = error.what();
    if (error.kind() == ErrorKind::kSystem) code = error.system_code();
  } catch (const std::bad_alloc&) {
    message = "there is not enough memory for the arguments of the call";
    code = ENOMEM;
  } catch (const std::exception& error) {
    message = base::text("an argument cannot be used: ", error.what());
  }
  report(message, code);
  base::throw_argument_error(message);
}

/// Returns the object at a pointer that the caller has passed. from: what the caller should pass.
/// errors  kArgument: the pointer is NULL.
template <typename Value>
Value& dereference(Value* value, const char* name, const char* from) {
  if (value == nullptr) base::throw_argument_error(name, " is NULL; pass ", from);
  return *value;
}

/// Returns the variable that the caller has passed for a result.
template <typename Value>
Value& output(Value* value, const char* name) {
  return dereference(value, name, "the address of a variable for the result");
}

/// Returns a text that the caller has passed.
inline std::string to_text(const char* text, const char* name) { return &dereference(text, name, "a text"); }

/// Frees a handle, if there is one.
template <typename Type>
plait_status free_handle(Type** handle) noexcept {
  if (handle == nullptr || *handle == nullptr) return PLAIT_OK;
  detach_error(*handle);
  delete std::exchange(*handle, nullptr);
  return PLAIT_OK;
}

/// Returns a copy of a text, which the caller frees.
char* copy_text(const std::string& text);

/// Stores a copy of a text at `where`.  If `where` is null, it throws before calling `text`.
template <typename Text>
void store_text(char** where, const char* name, Text&& text) {
  char*& result = output(where, name);
  result = copy_text(text());
}

}  // namespace plait::c
