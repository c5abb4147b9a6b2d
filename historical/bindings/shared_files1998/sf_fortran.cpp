// Shared Files for Fortran, for one kind of default integer per library.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "calls.hpp"
#include "codes.hpp"
#include "requests.hpp"

namespace ga = plait::ga;

namespace {

using Integer = PLAIT_FORTRAN_INTEGER;
// Returns the length of a character argument, which is passed after all other arguments. Compilers pass it as an int
// or as a size_t. If it is an int, the upper half of the register or word of memory is undefined.
using Length = std::size_t;

std::size_t to_length(Length passed) { return passed & 0x7fffffffU; }

/// Makes a file. Blanks at the end of the name are ignored.
Integer create(ga::CreateArguments arguments, const char* name, Length length, Integer* handle) {
  std::string text;
  // If there is no memory for the name, the other ranks get an error, that of a file without a name.
  if (ga::guarded(ga::kNoMemory, [&] {
        text.assign(name, to_length(length));
        text.erase(text.find_last_not_of(std::string(" \0", 2)) + 1);
      }) == ga::kOk)
    arguments.name = text.c_str();
  int new_handle = 0;
  const int code = ga::create_file(arguments, new_handle);
  if (code == ga::kOk) *handle = new_handle;
  return code;
}

}  // namespace

extern "C" {

Integer sf_create_(const char* fname, const double* size_hard_limit, const double* size_soft_limit,
                   const double* req_size, Integer* handle, Length fname_length) {
  return create({nullptr, *size_hard_limit, *size_soft_limit, *req_size, std::nullopt}, fname, fname_length, handle);
}

Integer sf_create_suffix_(const char* fname, const double* size_hard_limit, const double* size_soft_limit,
                          const double* req_size, Integer* handle, const Integer* suffix, Length fname_length) {
  return create({nullptr, *size_hard_limit, *size_soft_limit, *req_size, *suffix}, fname, fname_length, handle);
}

/// Sets the handle to 0, as in Global Arrays.
Integer sf_destroy_(Integer* handle) {
  const int code = ga::destroy_file(*handle);
  if (code == ga::kOk) *handle = 0;
  return code;
}

Integer sf_close_(const Integer* handle) { return ga::close_file(*handle); }
Integer sf_open_(const Integer* handle) { return ga::open_file(*handle); }
Integer sf_rwtor_(const Integer* handle) { return ga::make_read_only(*handle); }
Integer sf_fsync_(const Integer* handle) { return ga::sync_file(*handle); }

Integer sf_write_(const Integer* handle, const double* offset, const double* bytes, const void* buffer,
                  Integer* req_id) {
  int id = ga::kNoId;
  const int code = ga::start_write(*handle, *offset, *bytes, buffer, id);
  *req_id = id;
  return code;
}

Integer sf_read_(const Integer* handle, const double* offset, const double* bytes, void* buffer, Integer* req_id) {
  int id = ga::kNoId;
  const int code = ga::start_read(*handle, *offset, *bytes, buffer, id);
  *req_id = id;
  return code;
}

Integer sf_wait_(Integer* req_id) {
  const std::int64_t id = *req_id;
  *req_id = ga::kNoId;
  return ga::wait(id);
}

Integer sf_waitall_(Integer* list, const Integer* num) { return ga::wait_all(list, *num); }

/// Fills the rest of the text with blanks.
void sf_errmsg_(const Integer* code, char* message, Length message_length) {
  const std::size_t capacity = to_length(message_length);
  const std::size_t length = ga::put_text(*code, message, capacity);
  std::fill_n(message + length, capacity - length, ' ');
}

}  // extern "C"
