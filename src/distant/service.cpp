#include "distant/service.hpp"

#include "plait/error.hpp"
#include "transport/thread/team.hpp"

namespace plait::distant {

transport::Transport& transport_of(const Comm& comm) {
  // Never ends: files of a process that is alone may live as long as the program.
  static transport::Transport* const alone = transport::thread::make_alone().release();
  return comm.alone() ? *alone : *comm.transport();
}

std::shared_ptr<Service> start_service(transport::Transport& transport) {
  if (!transport.kept()) transport.kept() = std::make_shared<Service>(transport);
  return running_service(transport);
}

std::shared_ptr<Service> running_service(transport::Transport& transport) {
  if (!transport.kept())
    throw Error(ErrorKind::kArgument,
                "no distant file has been opened on this communicator; open one on all of its ranks first, which may "
                "all be without a path");
  return std::static_pointer_cast<Service>(transport.kept());
}

}  // namespace plait::distant
