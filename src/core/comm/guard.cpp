#include "core/comm/guard.hpp"

#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"

namespace plait::core {

void refuse(const Comm& comm, const std::string& message, int system_code) {
  const std::exception_ptr error = collective::caught([&] { throw refusal(message, system_code); });
  if (comm.size() > 1) collective::Collective::refuse(transport_of(comm), error);
  std::rethrow_exception(error);
}

void refuse_in_turn(const Comm& comm, const std::string& message, int system_code) {
  worker_of(comm)->run([&] { refuse(comm, message, system_code); });
  throw refusal(message, system_code);  // not reached
}

void refuse(const Comm& comm, const std::exception_ptr& error) {
  worker_of(comm)->run([&] { collective::Collective::refuse(transport_of(comm), error); });
  std::rethrow_exception(error);  // not reached: an error of one's own is thrown by agree()
}

}  // namespace plait::core
