#include "transport/local/peers.hpp"

#include <cerrno>

#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "plait/error.hpp"
#include "transport/node/peers.hpp"

namespace plait::transport::local {

void PeerLiveness::check() {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    // Before the note, which a process that has ended can write no more.  This process's own note tells of what has
    // been interrupted before.
    const bool ended = peers_[rank] && peers_[rank]->ended();
    node::Departed departed;
    if (departures_[rank].known(departed))
      node::check(departed, progress_, departures_[static_cast<std::size_t>(rank_)]);
    else if (ended)
      node::throw_ended(static_cast<int>(rank));
  }
}

void PeerLiveness::check_interruption() {
  if (!base::interrupted()) return;
  node::Departed departed;
  departed.worker = rank_;
  departed.calls = progress_.ended();
  node::tell(departed, {"was interrupted in a collective call"});
  departures_[static_cast<std::size_t>(rank_)].record(departed);
  throw Error(ErrorKind::kSystem,
              base::text("rank ", rank_, " was interrupted in a collective call; nothing more can be done together"),
              EINTR);
}

}  // namespace plait::transport::local
