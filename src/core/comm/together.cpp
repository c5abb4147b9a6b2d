#include <string>
#include <vector>

#include "collective/collective.hpp"
#include "collective/gather.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"
#include "plait/comm.hpp"
#include "transport/transport.hpp"

namespace plait {

void Comm::barrier() const {
  if (alone()) return;
  core::guarded(*this, [&] {
    core::get_worker(*this)->run(
        [&] { const collective::Collective call(core::get_transport(*this), "wait for all ranks", nullptr); });
  });
}

std::vector<std::string> Comm::allgather(const std::string& text) const {
  if (alone()) return {text};
  std::vector<std::string> all;
  core::guarded(*this, [&] {
    core::get_worker(*this)->run([&] {
      transport::Transport& ranks = core::get_transport(*this);
      collective::together(ranks, [&] {
        const collective::Collective call(ranks, "gather what each rank says", nullptr);
        all = collective::gather_to_all(ranks, [&] { return text; });
      });
    });
  });
  return all;
}

}  // namespace plait
