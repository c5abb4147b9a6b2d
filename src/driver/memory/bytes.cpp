#include "driver/memory/bytes.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/process.hpp"
#include "collective/broadcast.hpp"

namespace plait::driver::memory {

namespace {

/// The names of a process. A child process begins with an empty map.
struct Names {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<SharedBytes>> known;
};

Names& names() {
  static base::PerProcess<Names> names;
  return names.get();
}

}  // namespace

std::shared_ptr<SharedBytes> make_bytes(collective::Collective& call, std::int64_t bytes, const std::string& shown) {
  transport::Transport& transport = call.transport();
  call.run_phase([&] {
    if (!transport.nodes_apart()) return;
    base::throw_argument_error(shown,
                               " is in the memory of one node, but these ranks are on several; use "
                               "distant:NAME, or a file that all of them see");
  });
  std::shared_ptr<SharedBytes> result;
  std::unique_ptr<transport::SharedPart> part =
      transport.share(transport.rank() == 0 ? std::max<std::int64_t>(bytes, 1) : 0);
  std::string where;
  call.run_phase([&] {
    result = std::make_shared<SharedBytes>();
    if (transport.rank() != 0) return;
    const auto address = transport::find_shared(part->data());
    if (!address) base::throw_system_error(EFAULT, "the memory of ", shown, " is lost");
    where = base::encode(address->area, address->offset);
  });
  transport::SharedAddress address;
  base::decode(collective::broadcast_text(transport, where), base::kAnotherRank, address.area, address.offset);
  result->part = std::move(part);
  result->data = transport::locate_shared(address);
  result->bytes = bytes;
  result->number = address.area;
  return result;
}

std::shared_ptr<SharedBytes> find_bytes(const std::string& name) {
  const std::scoped_lock lock(names().mutex);
  const auto found = names().known.find(name);
  return found == names().known.end() ? nullptr : found->second;
}

void name_bytes(const std::string& name, std::shared_ptr<SharedBytes> bytes) {
  const std::scoped_lock lock(names().mutex);
  names().known[name].swap(bytes);
}

}  // namespace plait::driver::memory
