// Communicators of the C interface.

#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "objects.hpp"

using namespace plait::c;

const plait_comm* plait_alone(void) {
  alignas(plait_comm) static std::array<std::byte, sizeof(plait_comm)> storage;
  static const plait_comm* const alone =
      new (storage.data()) plait_comm(plait::Comm());  // never freed, needs no memory
  return alone;
}

plait_status plait_comm_world(double seconds, plait_comm** comm) {
  if (comm != nullptr) *comm = nullptr;
  return guarded(nullptr, [&] {
    auto handle = std::make_unique<plait_comm>(plait::Comm());
    handle->comm = plait::Comm::world(seconds);
    plait_comm*& result = output(comm, "comm");  // not checked earlier: the other ranks wait
    result = handle.release();
  });
}

plait_status plait_comm_barrier(const plait_comm* comm) {
  return guarded(comm, [&] { to_comm(comm).barrier(); });
}

plait_status plait_comm_rank(const plait_comm* comm, int* rank) {
  return guarded(comm, [&] { output(rank, "rank") = to_comm(comm).rank(); });
}

plait_status plait_comm_size(const plait_comm* comm, int* size) {
  return guarded(comm, [&] { output(size, "size") = to_comm(comm).size(); });
}

plait_status plait_comm_fail(const plait_comm* comm, const char* message) {
  return guarded(comm, [&] {
    const std::string text = message == nullptr ? "wrong arguments" : message;
    plait::fail_redistribute(text, to_comm(comm));
  });
}

plait_status plait_comm_free(plait_comm** comm) {
  if (comm != nullptr && *comm == plait_alone()) *comm = nullptr;
  return free_handle(comm);
}
