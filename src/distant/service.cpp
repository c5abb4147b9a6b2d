#include "distant/service.hpp"

#include <mutex>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"

namespace plait::distant {

namespace {

/// Protects the attachments of transports: offer() and find() access them outside of in_turn().
std::mutex& attachment_mutex() {
  static base::PerProcess<std::mutex> mutex;
  return mutex.get();
}

std::shared_ptr<Service> attached_service(transport::Transport& transport) {
  const std::scoped_lock lock(attachment_mutex());
  return std::static_pointer_cast<Service>(transport.attachment());
}

}  // namespace

void in_turn(const Comm& comm, base::FunctionRef<void()> call) {
  core::guarded(comm,
                [&] { core::get_worker(comm)->run([&] { collective::together(core::get_transport(comm), call); }); });
}

std::shared_ptr<Service> start_service(transport::Transport& transport) {
  if (auto running = attached_service(transport)) return running;
  auto service = std::make_shared<Service>(transport);
  const std::scoped_lock lock(attachment_mutex());
  transport.attachment() = service;
  return service;
}

std::shared_ptr<Service> running_service(transport::Transport& transport) {
  auto running = attached_service(transport);
  if (!running)
    base::throw_argument_error(
        "no distant file has been opened on this communicator; open one on all of its ranks first, which may "
        "all be without a path");
  return running;
}

}  // namespace plait::distant
