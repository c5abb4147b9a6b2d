#include "transport/local/peers.hpp"

#include <cerrno>
#include <cstddef>

#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "plait/error.hpp"
#include "transport/node/peers.hpp"

namespace plait::transport::local {

void PeerLiveness::check() {
  // An end comes before the look for a note, which a process that has ended can write no more.
  std::size_t lost = 0;
  node::Departed departed;
  while (lost < peers_.size() && !(peers_[lost] && peers_[lost]->ended() && !departures_[lost].known(departed))) ++lost;
  // This process's own note tells of what has been interrupted before.
  node::Departure& own = departures_[static_cast<std::size_t>(rank_)];
  if (node::find_fewest(departures_, departed)) node::check(departed, progress_, own);
  if (lost < peers_.size()) node::check_ended(static_cast<int>(lost), progress_, own);
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
