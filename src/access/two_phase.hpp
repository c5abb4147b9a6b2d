/// The two-phase strategy (Bordawekar 1993, section 4.3), window by window.
///
/// Reading: windows of each reader's share of the store are filled, in memory that its whole node sees; every rank takes
/// its part straight from there.  Ranks on other nodes get packed messages.  Writing runs the other way.  Each worker has
/// two windows; who fills or flushes one is found out on the way (WindowMove), and all waiting inside a node sleeps on the
/// slots' counters.  Workers that are threads of one process see all arrays: each takes one window after another,
/// distributes it to all of them and waits for nobody.
#pragma once

#include "access/access.hpp"

namespace plait::access {

std::unique_ptr<Move> make_two_phase_read(const Access& access);
std::unique_ptr<Move> make_two_phase_write(const Access& access);

}  // namespace plait::access
