// Creates bytes that the ranks of a node share, and lists them by name until the process ends.

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

/// The arrays in memory that this process has closed, by name. A forked child begins with an empty map.
struct NamedBytes {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<SharedBytes>> by_name;
};

NamedBytes& named_bytes() {
  static base::PerProcess<NamedBytes> named_bytes;
  return named_bytes.get();
}

}  // namespace

std::shared_ptr<SharedBytes> make_bytes(collective::Collective& call, std::int64_t bytes,
                                        const std::string& display_name) {
  transport::Transport& transport = call.transport();
  call.run_phase([&] {
    if (!transport.nodes_apart()) return;
    base::throw_argument_error(display_name,
                               " is in the memory of one node, but these ranks are on several; use "
                               "distant:NAME, or a file that all of them see");
  });
  std::shared_ptr<SharedBytes> result;
  std::unique_ptr<transport::SharedPart> part =
      transport.share(transport.rank() == 0 ? std::max<std::int64_t>(bytes, 1) : 0);
  std::string encoded_address;
  call.run_phase([&] {
    result = std::make_shared<SharedBytes>();
    if (transport.rank() != 0) return;
    const auto address = transport::find_shared(part->data());
    if (!address) base::throw_system_error(EFAULT, "the memory of ", display_name, " is lost");
    encoded_address = base::encode(address->area, address->offset);
  });
  transport::SharedAddress address;
  base::decode(collective::broadcast_text(transport, encoded_address), base::kAnotherRank, address.area,
               address.offset);
  result->part = std::move(part);
  result->data = transport::locate_shared(address);
  result->bytes = bytes;
  result->id = address.area;
  return result;
}

std::shared_ptr<SharedBytes> find_bytes(const std::string& name) {
  const std::scoped_lock lock(named_bytes().mutex);
  const auto found = named_bytes().by_name.find(name);
  return found == named_bytes().by_name.end() ? nullptr : found->second;
}

void name_bytes(const std::string& name, std::shared_ptr<SharedBytes> bytes) {
  const std::scoped_lock lock(named_bytes().mutex);
  named_bytes().by_name[name].swap(bytes);  // the old bytes are destroyed with `bytes`, without the lock
}

}  // namespace plait::driver::memory
