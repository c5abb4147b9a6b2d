#include "transport/native/active/native_active.hpp"

#include <utility>

#include "base/process.hpp"
#include "transport/native/active/active_end.hpp"

namespace plait::transport::native {

std::shared_ptr<ActiveMessages> make_native_active(Transport& transport, std::shared_ptr<CallService> service,
                                                   std::shared_ptr<Losses> losses) {
  auto made = base::make_owned<ActiveEnd>(std::move(service), std::move(losses));
  made->start(transport);
  return made;
}

}  // namespace plait::transport::native
