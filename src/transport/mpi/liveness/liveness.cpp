#include "transport/mpi/liveness/liveness.hpp"

#include <cstdint>
#include <utility>

#include "plait/error.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

PeerLiveness::PeerLiveness(MPI_Comm node, std::vector<int> workers, std::span<shared_memory::Departure> departures,
                           const shared_memory::Progress& progress)
    : workers_(std::move(workers)), departures_(departures), progress_(progress) {
  mpi::check(call(MPI_Comm_rank, node, &node_rank_), "MPI_Comm_rank");
  const shared_memory::ProcessIdentity own_identity = shared_memory::this_process_identity();
  std::vector<shared_memory::ProcessIdentity> all(workers_.size());
  static_assert(sizeof own_identity == 3 * sizeof(std::int64_t));
  mpi::check(call(MPI_Allgather, &own_identity, 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, node), "MPI_Allgather");
  peers_ = shared_memory::watch(all);
}

void PeerLiveness::check() {
  if (exchange_notices_) exchange_notices_();
  try {
    check_node();
  } catch (...) {
    // Notify other nodes now: this process may be the last one of its node, and may make no further call.
    if (exchange_notices_) exchange_notices_();
    throw;
  }
  if (losses_ != nullptr) losses_->check_waiting();
}

void PeerLiveness::check_interruption() {
  const auto node_rank = static_cast<std::size_t>(node_rank_);
  try {
    shared_memory::check_interruption(workers_[node_rank], progress_, departures_[node_rank]);
  } catch (...) {
    interrupted_ = true;
    // Notify other nodes now: this process may never wait again.
    try {
      if (exchange_notices_) exchange_notices_();
    } catch (const Error&) {  // the caller gets the interruption as the error
    }
    throw;
  }
}

void PeerLiveness::check_uninterrupted() const {
  shared_memory::DepartureRecord own;
  if (interrupted_ && departures_[static_cast<std::size_t>(node_rank_)].load(own)) shared_memory::check(own, progress_);
}

void PeerLiveness::check_node() {
  // Check for departures first: they say why a process has ended.
  shared_memory::Departure& own = departures_[static_cast<std::size_t>(node_rank_)];
  shared_memory::DepartureRecord departed;
  if (shared_memory::find_fewest(departures_, departed)) shared_memory::check(departed, progress_, own);
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i] && peers_[i]->ended()) shared_memory::check_ended(workers_[i], progress_, own);
}

}  // namespace plait::transport::mpi
