/// How processes of other nodes hear that one has left.
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

/// Of one communicator.  The first process of each node speaks for it: what it finds on its node's board it sends to
/// those of other nodes, and what they send it puts there.  It looks while it waits; nobody looks otherwise.
/// threads  One at a time waits; another one may look, or abandon what it has started.
class Notices {
 public:
  /// `leaders`: none where this process is not one of them.  `cookie` is the same for all, and another one for each
  /// communicator.  `board`: the departures of the node, by its members.  `liveness` looks, and throws.
  Notices(MPI_Comm everyone, std::int64_t cookie, std::span<shared_memory::Departure> board, Liveness& liveness,
          FirstOfNodes leaders);
  ~Notices();
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  /// Takes notices in, and sends on that of the worker with the fewest calls, whenever that has become another one.
  /// Never waits, and needs no memory.
  void look();
  /// Waits for operations that all processes take part in.
  /// errors  kSystem: they do not end, and a process has left or been lost.  MPI keeps them and their memory then.
  void wait(std::span<MPI_Request> requests, const char* what);
  /// The same for messages, which move only while somebody waits for them.  They end in order, as a rule.
  void wait_for_messages(std::span<MPI_Request> requests, const char* what);
  /// The same until `done` says so, which tests some.
  void wait_until(base::FunctionRef<bool()> done);
  /// Operations stay on their way that nobody waits for any more.
  void abandon() noexcept { given_up_ = true; }
  /// Whether one of these waits has failed, so that messages stay on their way.
  bool given_up() const { return given_up_; }

 private:
  struct Wire {
    std::int64_t cookie = 0;
    shared_memory::Departed departed;
  };
  /// What there was to see of operations.
  enum class TestResult : std::uint8_t { kNothing, kProgress, kEnd };
  void wait(base::FunctionRef<TestResult()> test, std::chrono::microseconds nap);
  void take();
  void send_on();
  void send(Wire& wire);

  MPI_Comm everyone_;
  std::int64_t cookie_;
  std::span<shared_memory::Departure> board_;
  Liveness& liveness_;
  FirstOfNodes leaders_;
  // Beforehand: who leaves may have no memory.  Each has fewer calls than the one before it, and who agrees on
  // everything is never many calls ahead of the others: so many are enough.
  static constexpr std::size_t kWires = 8;
  std::unique_ptr<std::array<Wire, kWires>> wires_ = std::make_unique<std::array<Wire, kWires>>();
  std::atomic<std::size_t> sent_{0};
  std::atomic<std::int64_t> sent_calls_{std::numeric_limits<std::int64_t>::max()};  // the fewest so far
  std::atomic<bool> given_up_{false};
};

}  // namespace plait::transport::mpi
