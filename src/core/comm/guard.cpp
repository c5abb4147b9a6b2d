#include "core/comm/guard.hpp"

#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"

namespace plait::core {

void fail(const Comm& comm, const std::string& message, int system_code) {
  const std::exception_ptr error = collective::caught([&] { throw call_error(message, system_code); });
  if (comm.size() > 1) collective::Collective::fail(get_transport(comm), error);
  std::rethrow_exception(error);
}

void fail_in_turn(const Comm& comm, const std::string& message, int system_code) {
  get_worker(comm)->run([&] { fail(comm, message, system_code); });
  throw call_error(message, system_code);  // not reached
}

void fail(const Comm& comm, const std::exception_ptr& error) {
  get_worker(comm)->run([&] { collective::Collective::fail(get_transport(comm), error); });
  std::rethrow_exception(error);  // not reached: agree() throws an error of this rank
}

}  // namespace plait::core
