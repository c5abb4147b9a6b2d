#include "transport/local/peers.hpp"

#include <cstddef>

#include "transport/shared_memory/peers.hpp"

namespace plait::transport::local {

void PeerLiveness::check() {
  // First test if a process has ended, then read its departure: a process that has ended cannot write that any more.
  std::size_t lost = 0;
  shared_memory::DepartureRecord departed;
  while (lost < peers_.size() && !(peers_[lost] && peers_[lost]->ended() && !departures_[lost].load(departed))) ++lost;
  // This process's own departure reports earlier interruptions of its waits.
  shared_memory::Departure& own = departures_[static_cast<std::size_t>(rank_)];
  if (shared_memory::find_fewest(departures_, departed)) shared_memory::check(departed, progress_, own);
  if (lost < peers_.size()) shared_memory::check_ended(static_cast<int>(lost), progress_, own);
}

void PeerLiveness::check_interruption() {
  shared_memory::check_interruption(rank_, progress_, departures_[static_cast<std::size_t>(rank_)]);
}

}  // namespace plait::transport::local
