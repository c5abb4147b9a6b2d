/// The part of a communicator for distant files, on each of its ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/function_ref.hpp"
#include "distant/server.hpp"
#include "plait/comm.hpp"
#include "transport/transport.hpp"

namespace plait::distant {

/// The server and the messages of a communicator. The transport owns it, and frees it after all files are closed.
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

  /// Returns a number for a file that one rank registers alone: it is negative, and those of collective calls are not.
  std::int64_t own_number() { return -++own_numbers_; }

  /// Returns the server of this rank.
  Server& server() const { return *server_; }
  /// Returns the connection to the other ranks' servers.
  const std::shared_ptr<transport::ActiveMessages>& active() const { return active_; }

 private:
  std::shared_ptr<Server> server_;
  std::shared_ptr<transport::ActiveMessages> active_;
  std::atomic<std::int64_t> own_numbers_{0};
};

/// Carries out a collective call in its turn among the calls of the communicator, for all kinds of files: nothing else
/// uses the transport meanwhile.
/// errors  Those of the call, on which it agrees; other exceptions become the same Error on all ranks.
void in_turn(const Comm& comm, base::FunctionRef<void()> call);
/// Returns the service of a transport, made at first use.  Collective, in turn.
std::shared_ptr<Service> start_service(transport::Transport& transport);
/// Returns the service of a transport that has one.
/// errors  kArgument: it has none yet.
std::shared_ptr<Service> running_service(transport::Transport& transport);

}  // namespace plait::distant
