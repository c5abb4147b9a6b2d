#include "plait/comm.hpp"

#include <utility>

#include "base/process.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"
#include "transport/thread/team.hpp"
#include "transport/transport.hpp"

namespace plait {

struct Comm::State {
  explicit State(std::shared_ptr<transport::Transport> ranks)
      : transport(std::move(ranks)),
        worker(std::make_shared<core::Worker>(transport->background(), transport->ends_alone())) {}
  std::shared_ptr<transport::Transport> transport;
  std::shared_ptr<core::Worker> worker;
};

namespace {

/// The transport and the worker of all Comms of a process that is alone.  They are never destroyed: files on such a
/// Comm may live as long as the program, and started calls continue while it ends.
struct OneRank {
  std::unique_ptr<transport::Transport> transport = transport::thread::make_alone();
  std::shared_ptr<core::Worker> worker = base::make_owned<core::Worker>();
};

OneRank& one_rank() {
  static base::PerProcess<OneRank> instance;
  return instance.get();
}

}  // namespace

int Comm::rank() const { return state_ ? state_->transport->rank() : 0; }
int Comm::size() const { return state_ ? state_->transport->size() : 1; }

/// The access of the functions below to the state of a Comm.
struct core::CommInternals {
  static Comm over(std::shared_ptr<transport::Transport> transport) {
    Comm comm;
    comm.state_ = base::make_owned<Comm::State>(std::move(transport));
    return comm;
  }
  static const Comm::State* state(const Comm& comm) { return comm.state_.get(); }
};

Comm core::comm_over(std::shared_ptr<transport::Transport> transport) {
  return CommInternals::over(std::move(transport));
}

transport::Transport& core::get_transport(const Comm& comm) {
  const auto* const state = CommInternals::state(comm);
  return state != nullptr ? *state->transport : *one_rank().transport;
}

std::shared_ptr<core::Worker> core::get_worker(const Comm& comm) {
  const auto* const state = CommInternals::state(comm);
  return state != nullptr ? state->worker : one_rank().worker;
}

}  // namespace plait
