/// How processes of other nodes hear that one has left.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/mpi/liveness/losses.hpp"
#include "transport/node/departure.hpp"

namespace plait::transport::mpi {

/// Of one communicator.  The first process of each node speaks for it: what it finds on its node's board it sends to
/// those of other nodes, and what they send it puts there.  It looks while it waits; nobody looks otherwise.
class Notices {
 public:
  /// `leaders`: the first process of each node, where this is one of them, number `index` of them; else none.  `cookie`
  /// is the same for all, and another one for each communicator.
  Notices(MPI_Comm everyone, std::int64_t cookie, node::Departure& board, const node::Progress& progress,
          Losses& losses, std::vector<int> leaders, int index);

  /// Takes notices in, and sends on what is on the board, once.  Never waits.
  void look();
  /// Waits for operations that all processes take part in.
  /// errors  kSystem: they do not end, and a process has left or been lost.  MPI keeps them and their memory then.
  void wait(std::span<MPI_Request> requests, const char* what);
  /// The same for messages, which move only while somebody waits for them.
  void wait_for_messages(std::span<MPI_Request> requests, const char* what);
  /// Operations stay on their way that nobody waits for any more.
  void abandon() { given_up_ = true; }
  /// Whether one of these waits has failed, so that messages stay on their way.
  bool given_up() const { return given_up_; }

 private:
  struct Wire {
    std::int64_t cookie = 0;
    node::Departed departed;
  };
  void wait(std::span<MPI_Request> requests, const char* what, std::chrono::microseconds nap);
  void take();
  void send_on();

  MPI_Comm everyone_;
  std::int64_t cookie_;
  node::Departure& board_;
  const node::Progress& progress_;
  Losses& losses_;
  std::vector<int> leaders_;
  int index_;
  bool sent_on_ = false;
  bool given_up_ = false;
};

}  // namespace plait::transport::mpi
