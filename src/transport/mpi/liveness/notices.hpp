/// Notices between nodes that a process has left.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "transport/gates.hpp"
#include "transport/shared_memory/departure.hpp"

namespace plait::transport::mpi {

/// The first process of each node, as ranks; this process is number `index` of them.
struct FirstOfNodes {
  std::vector<int> ranks;
  int index = 0;
};

/// The notices of one communicator.  Each node has a board in shared memory with the departures of its processes
/// (shared_memory/departure.hpp).  The first process of each node sends the departures on its board to the other nodes,
/// and records on the board the departures that they send.  It does so only while it waits.
/// threads  One thread at a time waits; another one may call poll(), or abandon operations that it has started.
class Notices {
 public:
  /// `leaders` is empty if this process is not the first of its node.  `cookie` is the same on all processes, and
  /// differs between communicators.  `board` has one departure for each process of the node.  `liveness`, which is
  /// checked while a process waits, calls poll() and throws.
  Notices(MPI_Comm everyone, std::int64_t cookie, std::span<shared_memory::Departure> board, Liveness& liveness,
          FirstOfNodes leaders);
  ~Notices();
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  /// Receives notices, and sends the departure with the fewest calls if it was not sent before.  Never waits, and
  /// allocates no memory.
  void poll();
  /// Waits for operations in which all processes take part.
  /// errors  kSystem: a process has left or been lost, so that they do not end.  MPI may then still access their
  ///          memory.
  void wait(std::span<MPI_Request> requests, const char* what);
  /// Like wait(), for messages, which MPI transfers only while a process calls MPI.  They usually end in order.
  void wait_for_messages(std::span<MPI_Request> requests, const char* what);
  /// Like wait(), until `done`, which tests some messages, returns true.
  void wait_until(base::FunctionRef<bool()> done);
  /// Records that this process does not wait for operations that are under way.
  void abandon() noexcept { has_abandoned_ = true; }
  /// Returns true if a wait has failed or operations were abandoned, so that messages remain under way.
  bool has_abandoned() const { return has_abandoned_; }

 private:
  struct Wire {
    std::int64_t cookie = 0;
    shared_memory::DepartureRecord departed;
  };
  /// The result of testing operations.
  enum class TestResult : std::uint8_t { kNothing, kProgress, kEnd };
  void wait(base::FunctionRef<TestResult()> test, std::chrono::microseconds nap);
  void receive_notices();
  void forward_fewest();
  void send(Wire& wire);

  MPI_Comm everyone_;
  std::int64_t cookie_;
  std::span<shared_memory::Departure> board_;
  Liveness& liveness_;
  FirstOfNodes leaders_;
  // Allocated beforehand, because a process that leaves may have no memory.  kWires suffices: each notice has fewer
  // calls than the one before it, and no process is many calls ahead of the others, because agreements synchronize
  // them.
  static constexpr std::size_t kWires = 8;
  std::unique_ptr<std::array<Wire, kWires>> wires_ = std::make_unique<std::array<Wire, kWires>>();
  std::atomic<std::size_t> sent_{0};
  // the fewest calls of a notice that was sent
  std::atomic<std::int64_t> sent_calls_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<bool> has_abandoned_{false};
};

}  // namespace plait::transport::mpi
