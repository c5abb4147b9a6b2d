#include "transport/local/peers.hpp"

#include "transport/node/peers.hpp"

namespace plait::transport::local {

void PeerLiveness::check() {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (!peers_[rank]) continue;
    // Before the note, which a process that has ended can write no more.
    const bool ended = peers_[rank]->ended();
    node::Departed departed;
    if (departures_[rank].known(departed))
      node::check(departed, progress_);
    else if (ended)
      node::throw_ended(static_cast<int>(rank));
  }
}

}  // namespace plait::transport::local
