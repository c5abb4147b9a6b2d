// Errors of the C interface.
//
// Each failed call records its error for the thread. A handle that one thread uses at a time also stores it. A handle
// that many threads may use does not, because they would overwrite each other's errors: plait_message() of such a
// handle returns the thread's error if its last failed call was on this handle.

#include "handle.hpp"
#include "store/objects/web/web_url.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace plait::c {

namespace {

/// The last error of a thread, and the handle on which the call failed.
struct LastError {
  Failure failure;
  const Handle* handle = nullptr;
};

LastError& get_last_error() {
  thread_local LastError last_error;
  return last_error;
}

Failure describe_failure(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const bool memory = error.kind() == ErrorKind::kSystem && error.system_code() == ENOMEM;
    return {error.kind() == ErrorKind::kArgument ? PLAIT_ERROR_ARGUMENT
            : memory                             ? PLAIT_ERROR_MEMORY
                                                 : PLAIT_ERROR_SYSTEM,
            error.system_code(), store::web::without_secrets(error.what())};
  } catch (const std::bad_alloc&) {
    return {PLAIT_ERROR_MEMORY, ENOMEM, "out of memory"};
  } catch (const std::exception& error) {
    return {PLAIT_ERROR_SYSTEM, 0, error.what()};
  } catch (...) {
    return {PLAIT_ERROR_SYSTEM, 0, "an exception of an unknown kind"};
  }
}

const Failure* failure_on(const void* handle) {
  if (handle == nullptr) return &get_last_error().failure;
  const auto* begin = static_cast<const Handle*>(handle);
  if (!begin->is_used_by_many) return &begin->last_failure;
  return get_last_error().handle == begin ? &get_last_error().failure : nullptr;
}

}  // namespace

plait_status record(const Handle* handle) noexcept {
  try {
    const Failure failure = describe_failure(std::current_exception());
    get_last_error() = {failure, handle};
    if (handle != nullptr && !handle->is_used_by_many) handle->last_failure = failure;
    return failure.status;
  } catch (...) {  // a text as short as this one needs no allocated memory
    get_last_error().failure.status = PLAIT_ERROR_MEMORY;
    get_last_error().failure.code = ENOMEM;
    get_last_error().failure.text = "out of memory";
    return PLAIT_ERROR_MEMORY;
  }
}

void detach_error(const Handle* handle) noexcept {
  if (get_last_error().handle == handle) get_last_error().handle = nullptr;
}

char* copy_text(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace plait::c

using plait::c::failure_on;

const char* plait_message(const void* handle) {
  const auto* failure = failure_on(handle);
  return failure == nullptr ? "" : failure->text.c_str();
}

int plait_system_code(const void* handle) {
  const auto* failure = failure_on(handle);
  return failure == nullptr ? 0 : failure->code;
}

plait_status plait_text_free(char** text) {
  if (text != nullptr) std::free(std::exchange(*text, nullptr));
  return PLAIT_OK;
}

const char* plait_version(void) { return PLAIT_VERSION; }
