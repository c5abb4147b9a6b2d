#include "transport/mpi/liveness/liveness.hpp"

#include <cstdint>
#include <utility>

#include "plait/error.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

PeerLiveness::PeerLiveness(MPI_Comm node, std::vector<int> workers, std::span<node::Departure> departures,
                           const node::Progress& progress)
    : workers_(std::move(workers)), departures_(departures), progress_(progress) {
  mpi::check(call(MPI_Comm_rank, node, &node_rank_), "MPI_Comm_rank");
  const node::ProcessIdentity mine = node::this_process_identity();
  std::vector<node::ProcessIdentity> all(workers_.size());
  static_assert(sizeof mine == 3 * sizeof(std::int64_t));
  mpi::check(call(MPI_Allgather, &mine, 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, node), "MPI_Allgather");
  peers_ = node::watch(all);
}

void PeerLiveness::check() {
  if (look_) look_();
  try {
    check_node();
  } catch (...) {
    // Other nodes hear of it now: this process may be the last one here, and make no other call.
    if (look_) look_();
    throw;
  }
  if (losses_ != nullptr) losses_->check_waiting();
}

void PeerLiveness::check_interruption() {
  const auto node_rank = static_cast<std::size_t>(node_rank_);
  try {
    node::check_interruption(workers_[node_rank], progress_, departures_[node_rank]);
  } catch (...) {
    interrupted_ = true;
    // Other nodes hear of it now: this process may never wait again.
    try {
      if (look_) look_();
    } catch (const Error&) {  // the interruption is what the caller hears of
    }
    throw;
  }
}

void PeerLiveness::check_uninterrupted() const {
  node::Departed own;
  if (interrupted_ && departures_[static_cast<std::size_t>(node_rank_)].known(own)) node::check(own, progress_);
}

void PeerLiveness::check_node() {
  // First those that have left, of which more is known than that they have ended.
  node::Departure& own = departures_[static_cast<std::size_t>(node_rank_)];
  node::Departed departed;
  if (node::find_fewest(departures_, departed)) node::check(departed, progress_, own);
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i] && peers_[i]->ended()) node::check_ended(workers_[i], progress_, own);
}

}  // namespace plait::transport::mpi
