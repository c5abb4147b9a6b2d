#include "transport/native/active/native_active.hpp"

#include <utility>

#include "base/process.hpp"
#include "transport/native/active/active_end.hpp"

namespace plait::transport::native {

std::shared_ptr<ActiveMessages> make_native_active(Transport& transport, std::shared_ptr<CallService> service,
                                                   std::shared_ptr<Losses> losses) {
  auto end = base::make_owned<ActiveEnd>(std::move(service), std::move(losses));
  end->start(transport);
  return end;
}

}  // namespace plait::transport::native
