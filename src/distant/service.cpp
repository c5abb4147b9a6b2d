#include "distant/service.hpp"

#include <mutex>

#include "plait/error.hpp"
#include "transport/thread/team.hpp"

namespace plait::distant {

transport::Transport& transport_of(const Comm& comm) {
  // Never ends: files of a process that is alone may live as long as the program.
  static transport::Transport* const alone = transport::thread::make_alone().release();
  return comm.alone() ? *alone : *comm.transport();
}

namespace {

std::shared_ptr<Service> service_of(transport::Transport& transport, bool start) {
  // Of the transport of a process that is alone, which any thread may use; others are each thread's own.
  static std::mutex mutex;
  std::unique_lock<std::mutex> lock;
  if (transport.size() == 1) lock = std::unique_lock(mutex);
  if (start && !transport.kept()) transport.kept() = std::make_shared<Service>(transport);
  return std::static_pointer_cast<Service>(transport.kept());
}

}  // namespace

std::shared_ptr<Service> start_service(transport::Transport& transport) { return service_of(transport, true); }

std::shared_ptr<Service> running_service(transport::Transport& transport) {
  if (auto service = service_of(transport, false)) return service;
  throw Error(ErrorKind::kArgument,
              "no distant file has been opened on this communicator; open one on all of its ranks first, which may "
              "all be without a path");
}

}  // namespace plait::distant
