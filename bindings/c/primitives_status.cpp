#include "primitives_status.hpp"

#include <plait.h>

#include <new>

#include "plait/error.hpp"

namespace plait::primitives {

namespace {

std::string& message() {
  static thread_local std::string text;
  return text;
}

}  // namespace

int status_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    message() = error.what();
    return error.kind() == ErrorKind::kArgument ? PLAIT_ERROR_ARGUMENT : PLAIT_ERROR_SYSTEM;
  } catch (const std::bad_alloc&) {
    message() = "out of memory";
    return PLAIT_ERROR_MEMORY;
  } catch (const std::exception& error) {
    message() = error.what();
    return PLAIT_ERROR_SYSTEM;
  }
}

const std::string& last_message() { return message(); }

}  // namespace plait::primitives

extern "C" __attribute__((weak)) const char* plait_message(const void* /*handle*/) {
  return plait::primitives::last_message().c_str();
}
