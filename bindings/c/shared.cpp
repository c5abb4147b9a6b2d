// Memory that the processes of a node share.

#include "base/errors.hpp"
#include "local_arrays.hpp"
#include "objects.hpp"

using namespace plait::c;

namespace {

template <typename Bytes>
plait_status share(const plait_comm* comm, plait_shared** shared, Bytes&& make_memory) {
  if (shared != nullptr) *shared = nullptr;
  return guarded(comm, [&] {
    const plait::Comm& comm_object = to_comm(comm);
    std::unique_ptr<plait_shared> handle;
    const auto report = [&](const std::string& message, int code) {
      plait::fail_redistribute(message, comm_object, code);
    };
    const std::int64_t bytes = run_checks(report, [&] {
      output(shared, "shared");
      handle = std::make_unique<plait_shared>();
      return make_memory(comm_object);
    });
    handle->memory.emplace(bytes, comm_object);
    *shared = handle.release();
  });
}

}  // namespace

plait_status plait_empty(const plait_comm* comm, const plait_layout* layout, int64_t element_bytes,
                         plait_shared** shared) {
  return share(comm, shared, [&](const plait::Comm& comm_object) {
    const plait::Layout& layout_object = to_layout(layout);
    return count_local_bytes(layout_object, list_local_ranks(layout_object, comm_object), element_bytes);
  });
}

plait_status plait_empty_bytes(const plait_comm* comm, int64_t bytes, plait_shared** shared) {
  return share(comm, shared, [&](const plait::Comm&) {
    if (bytes < 0) plait::base::throw_argument_error("memory of ", bytes, " bytes cannot be made; give 0 or more");
    return bytes;
  });
}

plait_status plait_shared_memory(const plait_shared* shared, void** data, int64_t* bytes) {
  return guarded(shared, [&] {
    const plait::SharedMemory& memory = *dereference(shared, "shared", "the handle from plait_empty").memory;
    if (data != nullptr) *data = memory.data();
    if (bytes != nullptr) *bytes = memory.bytes();
  });
}

plait_status plait_shared_free(plait_shared** shared) { return free_handle(shared); }
