#include "plait/comm.hpp"

#include <utility>

#include "base/process.hpp"
#include "core/comm/worker.hpp"
#include "transport/thread/team.hpp"
#include "transport/transport.hpp"

namespace plait {

struct Comm::State {
  explicit State(std::shared_ptr<transport::Transport> of)
      : transport(std::move(of)),
        worker(std::make_shared<core::Worker>(transport->background(), transport->ends_alone())) {}
  std::shared_ptr<transport::Transport> transport;
  std::shared_ptr<core::Worker> worker;
};

namespace {

/// What all Comms of a process that is alone have.  It never ends: files on it may live as long as the program, and what
/// was started goes on when that ends.
struct OneRank {
  transport::Transport* transport = transport::thread::make_alone().release();
  std::shared_ptr<core::Worker> worker = base::make_owned<core::Worker>();
};

OneRank& one_rank() {
  static base::PerProcess<OneRank> kept;
  return kept.get();
}

}  // namespace

Comm::Comm(std::shared_ptr<transport::Transport> transport) : state_(base::make_owned<State>(std::move(transport))) {}
int Comm::rank() const { return state_ ? state_->transport->rank() : 0; }
int Comm::size() const { return state_ ? state_->transport->size() : 1; }
transport::Transport* Comm::transport() const { return state_ ? state_->transport.get() : one_rank().transport; }
std::shared_ptr<core::Worker> Comm::worker() const { return state_ ? state_->worker : one_rank().worker; }

}  // namespace plait
