/// What a communicator has for distant files, on each of its ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/function_ref.hpp"
#include "distant/server.hpp"
#include "plait/comm.hpp"
#include "transport/transport.hpp"

namespace plait::distant {

/// Goes with its transport, once no file is open on it.
class Service {
 public:
  explicit Service(transport::Transport& transport)
      : server_(std::make_shared<Server>(transport.rank(), transport.size())), active_(transport.active(server_)) {}
  ~Service() {
    active_->stop();
    server_->finish();
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// A number for what one rank registers alone: below zero, where those of collective calls are not.
  std::int64_t own_number() { return -++own_numbers_; }

  /// What this rank serves.
  Server& server() const { return *server_; }
  /// What it asks the others by.
  const std::shared_ptr<transport::Active>& active() const { return active_; }

 private:
  std::shared_ptr<Server> server_;
  std::shared_ptr<transport::Active> active_;
  std::atomic<std::int64_t> own_numbers_{0};
};

/// Carries out a collective call when its turn among those of the communicator has come, of files of all kinds: nothing
/// else uses the transport meanwhile.
/// errors  Those of the call, which agrees on its Errors; what else it throws all ranks get as the same Error.
void in_turn(const Comm& comm, base::FunctionRef<void()> call);
/// The service of a transport, made at first use.  Collective, in turn.
std::shared_ptr<Service> start_service(transport::Transport& transport);
/// The service of a transport that has one.  errors  kArgument: it has none yet.
std::shared_ptr<Service> running_service(transport::Transport& transport);

}  // namespace plait::distant
