#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "collective/collective.hpp"
#include "collective/gather.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "core/comm/worker.hpp"
#include "plait/comm.hpp"
#include "transport/transport.hpp"

namespace plait {

namespace {

/// Texts with their lengths in front, one behind the other.
std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& one : texts) {
    const auto length = static_cast<std::int64_t>(one.size());
    all.append(reinterpret_cast<const char*>(&length), sizeof length);
    all += one;
  }
  return all;
}

std::vector<std::string> parted(const std::string& all) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size();) {
    std::int64_t length = 0;
    std::memcpy(&length, all.data() + at, sizeof length);
    texts.push_back(all.substr(at + sizeof length, static_cast<std::size_t>(length)));
    at += sizeof length + static_cast<std::size_t>(length);
  }
  return texts;
}

}  // namespace

void Comm::barrier() const {
  if (alone()) return;
  core::guarded(*this, [&] {
    core::worker_of(*this)->run(
        [&] { const collective::Collective call(core::transport_of(*this), "wait for all ranks", nullptr); });
  });
}

std::vector<std::string> Comm::allgather(const std::string& text) const {
  if (alone()) return {text};
  std::vector<std::string> all;
  core::guarded(*this, [&] {
    core::worker_of(*this)->run([&] {
      transport::Transport& ranks = core::transport_of(*this);
      collective::together(ranks, [&] {
        collective::Collective call(ranks, "gather what each rank says", nullptr);
        const std::vector<std::string> found = collective::gather(ranks, [&] { return text; });
        const std::string told = collective::tell(ranks, [&] { return joined(found); });
        call.step([&] { all = parted(told); });
      });
    });
  });
  return all;
}

}  // namespace plait
