/// Detects that a process of the node has ended or left.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/gates.hpp"
#include "transport/losses.hpp"
#include "transport/shared_memory/departure.hpp"
#include "transport/shared_memory/peers.hpp"

namespace plait::transport::mpi {

/// Watches the other processes of the node (base/process_watch.hpp); communicators share the watches.  If the kernel
/// does not support this, the end of a process is not detected.
class PeerLiveness : public Liveness {
 public:
  /// Collective over `node`.  `workers` are the ranks of the node's processes, for errors; `departures` are those of
  /// the node; `progress` is that of this process.
  PeerLiveness(MPI_Comm node, std::vector<int> workers, std::span<shared_memory::Departure> departures,
               const shared_memory::Progress& progress);
  void check() override;
  void check_interruption() override;
  /// Checks that no earlier collective call of this process was interrupted.
  /// errors  kSystem: one was.
  void check_uninterrupted() const;

  /// For jobs with several nodes: `exchange_notices` exchanges notices with other nodes (notices.hpp), and `losses`
  /// records lost processes of all nodes.
  void watch_nodes(std::function<void()> exchange_notices, Losses* losses) {
    exchange_notices_ = std::move(exchange_notices);
    losses_ = losses;
  }

 private:
  /// errors  kSystem: a peer on this node has left, or ended.
  void check_node();

  std::vector<int> workers_;
  std::span<shared_memory::Departure> departures_;
  int node_rank_ = 0;
  const shared_memory::Progress& progress_;
  std::vector<std::shared_ptr<const base::ProcessWatch>> peers_;
  std::function<void()> exchange_notices_;
  Losses* losses_ = nullptr;
  std::atomic<bool> interrupted_{false};  // set by a wait on any thread
};

}  // namespace plait::transport::mpi
