/// The service for distant files of a communicator, on each of its ranks.
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

  /// Returns a number for a file that one rank registers alone.  It is negative; numbers of collective calls are
  /// positive.
  std::int64_t own_number() { return -++own_numbers_; }

  /// Returns the server of this rank.
  Server& server() const { return *server_; }
  /// Returns the active messages, which carry calls to the other ranks' servers.
  const std::shared_ptr<transport::ActiveMessages>& active() const { return active_; }

 private:
  std::shared_ptr<Server> server_;
  std::shared_ptr<transport::ActiveMessages> active_;
  std::atomic<std::int64_t> own_numbers_{0};
};

/// Runs a collective call when no other call of the communicator is running, whatever files it uses, because calls must
/// not use the transport at the same time.
/// errors  Those of the call, on which it agrees; other exceptions become the same Error on all ranks.
void in_turn(const Comm& comm, base::FunctionRef<void()> call);
/// Returns the service of a transport, and creates it at the first call.  Collective; call it within in_turn().
std::shared_ptr<Service> start_service(transport::Transport& transport);
/// Returns the service of a transport that has one.
/// errors  kArgument: it has none yet.
std::shared_ptr<Service> running_service(transport::Transport& transport);

}  // namespace plait::distant
