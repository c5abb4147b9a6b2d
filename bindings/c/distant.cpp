// Distant I/O (plait/distant.hpp) of the C interface.

#include "plait/distant.hpp"

#include <string>

#include "base/errors.hpp"
#include "objects.hpp"
#include "options.hpp"

using namespace plait::c;
using plait::DistantFile;
using plait::DistantMode;
using plait::DistantOptions;
using plait::DistantRequest;

namespace {

template <typename Dio>
auto& to_file(Dio* handle) {
  return *dereference(handle, "handle", "the handle from plait_dio_open, plait_dio_offer or plait_dio_find").file;
}

DistantMode parse_mode(const char* mode) {
  const std::string name = to_text(mode, "mode");
  if (name == "r") return DistantMode::kRead;
  if (name == "r+") return DistantMode::kReadWrite;
  if (name == "w") return DistantMode::kWrite;
  plait::base::throw_argument_error("mode \"", name, "\" is not known; use \"r\", \"r+\" or \"w\"");
}

DistantOptions make_options(const char* path, const char* mode, const plait_dio_options* options) {
  DistantOptions result;
  if (path != nullptr) result.path = path;
  result.mode = parse_mode(mode);
  result.temporary = copy_options(options, "plait_dio_options").temporary != 0;
  return result;
}

/// Starts an access, and waits for it if the caller passes no request.
template <typename Now, typename Begin>
plait_status access(plait_dio* handle, plait_request** request, Now&& access_now, Begin&& begin) {
  if (request != nullptr) *request = nullptr;
  return guarded(handle, [&] {
    DistantFile& file = to_file(handle);
    if (request == nullptr) return access_now(file);
    auto pending = std::make_unique<plait_request>();
    auto access_object = std::make_shared<DistantRequest>(begin(file));
    pending->wait = [access_object] {
      access_object->wait();
      return std::int64_t{0};
    };
    pending->test = [access_object] { return access_object->test(); };
    *request = pending.release();
  });
}

}  // namespace

plait_status plait_dio_open(const char* path, const char* mode, const plait_comm* comm,
                            const plait_dio_options* options, plait_dio** handle) {
  if (handle != nullptr) *handle = nullptr;
  return guarded(comm, [&] {
    const plait::Comm& comm_object = to_comm(comm);
    DistantOptions distant_options;
    const auto report = [&](const std::string& message, int code) {
      DistantFile::fail_open(message, comm_object, code);
    };
    auto new_handle = run_checks(report, [&] {
      output(handle, "handle");
      distant_options = make_options(path, mode, options);
      return std::make_unique<plait_dio>();
    });
    new_handle->file.emplace(DistantFile::open(distant_options, comm_object));
    *handle = new_handle.release();
  });
}

plait_status plait_dio_offer(const char* name, const char* path, const char* mode, const plait_comm* comm,
                             const plait_dio_options* options, plait_dio** handle) {
  if (handle != nullptr) *handle = nullptr;
  return guarded(comm, [&] {
    output(handle, "handle");
    auto new_handle = std::make_unique<plait_dio>();
    new_handle->file.emplace(
        DistantFile::offer(to_text(name, "name"), make_options(path, mode, options), to_comm(comm)));
    *handle = new_handle.release();
  });
}

plait_status plait_dio_find(const char* name, const plait_comm* comm, plait_dio** handle) {
  if (handle != nullptr) *handle = nullptr;
  return guarded(comm, [&] {
    output(handle, "handle");
    auto new_handle = std::make_unique<plait_dio>();
    new_handle->file.emplace(DistantFile::find(to_text(name, "name"), to_comm(comm)));
    *handle = new_handle.release();
  });
}

plait_status plait_dio_owner(const plait_dio* handle, int* rank) {
  return guarded(handle, [&] { output(rank, "rank") = to_file(handle).owner(); });
}

plait_status plait_dio_read(plait_dio* handle, int64_t offset, void* buffer, int64_t bytes, int rank,
                            plait_request** request) {
  return access(
      handle, request, [&](DistantFile& file) { file.read(offset, buffer, bytes, rank); },
      [&](DistantFile& file) { return file.start_read(offset, buffer, bytes, rank); });
}

plait_status plait_dio_write(plait_dio* handle, int64_t offset, const void* buffer, int64_t bytes, int rank,
                             plait_request** request) {
  return access(
      handle, request, [&](DistantFile& file) { file.write(offset, buffer, bytes, rank); },
      [&](DistantFile& file) { return file.start_write(offset, buffer, bytes, rank); });
}

plait_status plait_dio_sync(plait_dio* handle, int rank, plait_request** request) {
  return access(
      handle, request, [&](DistantFile& file) { file.sync(rank); },
      [&](DistantFile& file) { return file.start_sync(rank); });
}

plait_status plait_dio_size(plait_dio* handle, int rank, int64_t* bytes) {
  return guarded(handle, [&] {
    int64_t& result = output(bytes, "bytes");
    result = to_file(handle).size(rank);
  });
}

plait_status plait_dio_resize(plait_dio* handle, int64_t bytes, int rank) {
  return guarded(handle, [&] { to_file(handle).resize(bytes, rank); });
}

plait_status plait_dio_wait(plait_request** request) {
  if (request == nullptr || *request == nullptr) return PLAIT_OK;
  return plait_request_free(request);
}

plait_status plait_dio_waitall(plait_request** requests, int count) {
  plait_status first = PLAIT_OK;
  Failure failure;
  const plait_status check_status = guarded(nullptr, [&] {
    if (count > 0) dereference(requests, "requests", "the requests to wait for");
    if (count < 0) plait::base::throw_argument_error(count, " requests were given; pass 0 or more");
  });
  if (check_status != PLAIT_OK) return check_status;
  for (int i = 0; i < count; ++i) {
    const plait_status status = plait_dio_wait(&requests[i]);
    if (first != PLAIT_OK || status == PLAIT_OK) continue;
    first = status;
    failure = {status, plait_system_code(nullptr), plait_message(nullptr)};
  }
  if (first == PLAIT_OK) return PLAIT_OK;
  // The message must be that of the returned status.
  guarded(nullptr, [&] {
    throw plait::Error(first == PLAIT_ERROR_ARGUMENT ? plait::ErrorKind::kArgument : plait::ErrorKind::kSystem,
                       failure.text, failure.code);
  });
  return first;
}

plait_status plait_dio_test(plait_request* request, int* done) { return plait_request_test(request, done); }

plait_status plait_dio_close(plait_dio** handle) {
  if (handle == nullptr || *handle == nullptr) return PLAIT_OK;
  const plait_status status = guarded(nullptr, [&] { to_file(*handle).close(); });
  free_handle(handle);
  return status;
}
