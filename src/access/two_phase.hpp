/// The two-phase strategy (Bordawekar 1993, section 4.3), window by window.
///
/// Reading: each reader's share of the store is read in windows, in memory that its whole node shares.  Every rank of
/// the node copies its elements directly from there; ranks on other nodes receive packed messages.  Writing runs the
/// other way.  Each worker has two windows.  WindowMove decides at run time which worker fills or flushes a window, and
/// all waiting inside a node sleeps on the slots' counters.  Workers that are threads of one process see all arrays:
/// each takes one window after another, copies between it and all arrays, and never waits.
#pragma once

#include "access/access.hpp"

namespace plait::access {

std::unique_ptr<Move> make_two_phase_read(const Access& access);
std::unique_ptr<Move> make_two_phase_write(const Access& access);

}  // namespace plait::access
