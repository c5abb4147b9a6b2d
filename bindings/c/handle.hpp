/// What the handles of the C interface have in common: errors become a status and a message.
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

/// What every handle begins with.
struct Handle {
  /// Of a handle that many threads may use, errors are kept with the thread.
  explicit Handle(bool used_by_many = false) : by_many(used_by_many) {}
  bool by_many;
  mutable Failure last;
};

/// Keeps the exception that is under way as the last error of this thread and, where there is one, of the handle.
plait_status record(const Handle* handle) noexcept;
/// Lets go of what this thread remembers of a handle that ends.
void forget(const Handle* handle) noexcept;

/// The body of a function: no exception leaves it.
template <typename Body>
plait_status guarded(const Handle* handle, Body&& body) noexcept {
  try {
    body();
    return PLAIT_OK;
  } catch (...) {
    return record(handle);
  }
}

/// Runs checks in front of a collective call.  What they throw becomes the call that `tell` makes instead: that of
/// File::refuse and the like, with a message and a code of the system, so that the other ranks do not wait.
template <typename Tell, typename Body>
decltype(auto) checked(Tell&& tell, Body&& body) {
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
  tell(message, code);
  base::throw_argument_error(message);
}

/// The thing behind a pointer of the caller's.
template <typename Value>
Value& given(Value* value, const char* name, const char* from) {
  if (value == nullptr) base::throw_argument_error(name, " is NULL; pass ", from);
  return *value;
}

/// Where a result goes.
template <typename Value>
Value& output(Value* value, const char* name) {
  return given(value, name, "the address of a variable for the result");
}

/// A text of the caller's.
inline std::string text_of(const char* text, const char* name) { return &given(text, name, "a text"); }

/// Frees a handle, if there is one.
template <typename Type>
plait_status release(Type** handle) noexcept {
  if (handle == nullptr || *handle == nullptr) return PLAIT_OK;
  forget(*handle);
  delete std::exchange(*handle, nullptr);
  return PLAIT_OK;
}

/// A text for the caller to free.
char* copied(const std::string& text);

/// Such a text where the caller wants it; without a pointer none is made.
template <typename Text>
void hand_out_text(char** where, const char* name, Text&& text) {
  char*& result = output(where, name);
  result = copied(text());
}

}  // namespace plait::c
