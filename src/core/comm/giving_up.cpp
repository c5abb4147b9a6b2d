#include "core/comm/giving_up.hpp"

#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"
#include "transport/transport.hpp"

namespace plait::core {

void give_up(const Comm& comm, std::int64_t number, const Error& error) {
  if (comm.size() == 1) return;
  // The transport outlives the worker's tasks; a Comm that a task held might end on the worker's own thread.
  get_worker(comm)->post([transport = &get_transport(comm), number, error] {
    // If several ranks give up different files at once, one agreement reports only two of the numbers, so this repeats
    // until the number is recorded.  It stops then, because the others may be waiting in another call.
    for (int rank = 0; rank < transport->size() && !transport->abandoned_numbers().contains(number); ++rank)
      collective::caught([&] { collective::Collective::give_up(*transport, number, std::make_exception_ptr(error)); });
  });
}

}  // namespace plait::core
