#include "plait/comm.hpp"

#include <utility>

#include "base/process.hpp"
#include "core/comm/worker.hpp"
#include "transport/transport.hpp"

namespace plait {

struct Comm::State {
  explicit State(std::shared_ptr<transport::Transport> of)
      : transport(std::move(of)), worker(std::make_shared<core::Worker>(transport->background())) {}
  std::shared_ptr<transport::Transport> transport;
  std::shared_ptr<core::Worker> worker;
};

Comm::Comm(std::shared_ptr<transport::Transport> transport) : state_(base::make_owned<State>(std::move(transport))) {}
int Comm::rank() const { return state_ ? state_->transport->rank() : 0; }
int Comm::size() const { return state_ ? state_->transport->size() : 1; }
transport::Transport* Comm::transport() const { return state_ ? state_->transport.get() : nullptr; }
std::shared_ptr<core::Worker> Comm::worker() const { return state_ ? state_->worker : nullptr; }

}  // namespace plait
