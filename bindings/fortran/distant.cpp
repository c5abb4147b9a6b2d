// Distant I/O for the Fortran module: handles and requests as numbers, arrays as their bytes.

#include <ISO_Fortran_binding.h>
#include <plait.h>

#include <cstdint>
#include <exception>
#include <string>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "gaps.hpp"
#include "handle.hpp"
#include "handles.hpp"
#include "objects.hpp"

namespace {

using plait::c::guarded;
using plait::fortran::find;
using plait::fortran::make_handle;
using plait::fortran::Table;
using plait::fortran::Ticket;

constexpr const char* kInUse = "the handle is that of open distant files; call plait_dio_close first";

/// Starts an access with `begin(pointer to a request)`, or performs it if `request` is null.
template <typename Begin>
plait_status start(Ticket* request, Begin&& begin) {
  if (request == nullptr) return begin(nullptr);
  const plait_status status = guarded(nullptr, [&] {
    if (find<plait_request>(*request) != nullptr)
      plait::base::throw_argument_error("the request is in use; call plait_dio_wait first, or use another variable");
    Table<plait_request>::instance().reserve();
  });
  return status == PLAIT_OK ? make_handle<plait_request>(request, begin) : status;
}

/// Makes a handle by a call that is not collective.
template <typename Make>
plait_status make_local_handle(Ticket* dio, Make&& make) {
  const plait_status status = guarded(nullptr, [&] {
    if (find<plait_dio>(*dio) != nullptr) plait::base::throw_argument_error(kInUse);
    Table<plait_dio>::instance().reserve();
    plait::fortran::abandon_open_files_at_end();
  });
  return status == PLAIT_OK ? make_handle<plait_dio>(dio, make) : status;
}

plait_dio_options make_options(int temporary) { return {sizeof(plait_dio_options), temporary}; }

}  // namespace

extern "C" {

/// Opens a file on each rank; an empty path opens none.
plait_status plait_fortran_dio_open(const char* path, const char* mode, Ticket comm_ticket, int temporary,
                                    Ticket* dio) {
  const plait_comm* const comm = find<plait_comm>(comm_ticket);
  // Report an error to the other ranks, which may already be opening their files.
  const plait_status status = guarded(comm, [&] {
    const auto report = [&](const std::string& message, int code) {
      plait::DistantFile::fail_open(message, plait::c::to_comm(comm), code);
    };
    plait::c::run_checks(report, [&] {
      if (find<plait_dio>(*dio) != nullptr) plait::base::throw_argument_error(kInUse);
      Table<plait_dio>::instance().reserve();
      plait::fortran::abandon_open_files_at_end();
    });
  });
  if (status != PLAIT_OK) return status;
  const plait_dio_options options = make_options(temporary);
  return make_handle<plait_dio>(dio, [&](plait_dio** opened) {
    return plait_dio_open(*path == '\0' ? nullptr : path, mode, comm, &options, opened);
  });
}

plait_status plait_fortran_dio_offer(const char* name, const char* path, const char* mode, Ticket comm, int temporary,
                                     Ticket* dio) {
  const plait_dio_options options = make_options(temporary);
  return make_local_handle(dio, [&](plait_dio** handle) {
    return plait_dio_offer(name, path, mode, find<plait_comm>(comm), &options, handle);
  });
}

plait_status plait_fortran_dio_find(const char* name, Ticket comm, Ticket* dio) {
  return make_local_handle(dio,
                           [&](plait_dio** handle) { return plait_dio_find(name, find<plait_comm>(comm), handle); });
}

/// Reads or writes the bytes of an array; with `request` the access is started.
plait_status plait_fortran_dio_move(Ticket dio, std::int64_t offset, const CFI_cdesc_t* array, int rank, int write,
                                    Ticket* request) {
  plait_dio* const handle = find<plait_dio>(dio);
  std::int64_t bytes = 0;
  const plait_status status = guarded(handle, [&] {
    plait::base::Rejection rejection;
    const std::int64_t elements = plait::fortran::elements_without_gaps(*array, rejection);
    if (elements < 0) rejection.raise();
    bytes = elements * static_cast<std::int64_t>(array->elem_len);
  });
  if (status != PLAIT_OK) return status;
  return start(request, [&](plait_request** started) {
    return write != 0 ? plait_dio_write(handle, offset, array->base_addr, bytes, rank, started)
                      : plait_dio_read(handle, offset, array->base_addr, bytes, rank, started);
  });
}

plait_status plait_fortran_dio_sync(Ticket dio, int rank, Ticket* request) {
  return start(request, [&](plait_request** started) { return plait_dio_sync(find<plait_dio>(dio), rank, started); });
}

/// Completes all requests. The error is that of the first one that failed.
plait_status plait_fortran_dio_waitall(Ticket* requests, std::int64_t count) {
  std::exception_ptr first;
  for (std::int64_t i = 0; i < count; ++i) {
    const plait_status status =
        plait::fortran::release_handle<plait_request>(&requests[i], "the request", plait_dio_wait);
    if (first || status == PLAIT_OK) continue;
    first = std::make_exception_ptr(
        plait::Error(status == PLAIT_ERROR_ARGUMENT ? plait::ErrorKind::kArgument : plait::ErrorKind::kSystem,
                     plait_message(nullptr), plait_system_code(nullptr)));
  }
  return guarded(nullptr, [&] {
    if (first) std::rethrow_exception(first);
  });
}

plait_status plait_fortran_dio_close(Ticket* dio) {
  return plait::fortran::release_handle<plait_dio>(dio, "the handle of distant files", plait_dio_close);
}

}  // extern "C"
