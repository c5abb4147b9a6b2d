#include "distant/service.hpp"

#include <mutex>

#include "base/process.hpp"
#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/worker.hpp"
#include "plait/error.hpp"
#include "transport/thread/team.hpp"

namespace plait::distant {

namespace {

/// What keeps a service is looked at by calls that do not take turns.
std::mutex& keeping() {
  static base::PerProcess<std::mutex> mutex;
  return mutex.get();
}

/// What files of a process that is alone share.  It never ends, for they may live as long as the program.
struct Alone {
  transport::Transport* transport = transport::thread::make_alone().release();
  core::Worker worker;
};

Alone& what_is_alone() {
  static base::PerProcess<Alone> kept;
  return kept.get();
}

std::shared_ptr<Service> kept_service(transport::Transport& transport) {
  const std::scoped_lock lock(keeping());
  return std::static_pointer_cast<Service>(transport.kept());
}

}  // namespace

void Service::begin_use() {
  const std::scoped_lock lock(using_);
  if (uses_++ == 0) active_->wake();
}

void Service::end_use() noexcept {
  const std::scoped_lock lock(using_);
  if (--uses_ == 0) active_->rest();
}

transport::Transport& transport_of(const Comm& comm) {
  return comm.alone() ? *what_is_alone().transport : *comm.transport();
}

void in_turn(const Comm& comm, base::FunctionRef<void()> call) {
  core::guarded(comm, [&] {
    (comm.alone() ? what_is_alone().worker : *comm.worker()).run([&] {
      collective::together(transport_of(comm), call);
    });
  });
}

std::shared_ptr<Service> start_service(transport::Transport& transport) {
  if (auto running = kept_service(transport)) return running;
  auto made = std::make_shared<Service>(transport);
  const std::scoped_lock lock(keeping());
  transport.kept() = made;
  return made;
}

std::shared_ptr<Service> running_service(transport::Transport& transport) {
  auto running = kept_service(transport);
  if (!running)
    throw Error(ErrorKind::kArgument,
                "no distant file has been opened on this communicator; open one on all of its ranks first, which may "
                "all be without a path");
  return running;
}

}  // namespace plait::distant
