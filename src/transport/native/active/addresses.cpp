#include "transport/native/active/addresses.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <span>

#include "base/errors.hpp"
#include "base/host/host.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::transport::native {

namespace {

/// The endpoints of a worker, or the reason why it has none, as it writes them to its note (Transport::note).
struct WorkerDescription {
  std::int32_t worker = 0;
  std::int32_t error = 0;  // nonzero: the text is an error instead of endpoints
  std::array<char, Transport::kNoteBytes - 2 * sizeof(std::int32_t)> text{};
};
static_assert(sizeof(WorkerDescription) <= Transport::kNoteBytes);
constexpr std::size_t kMaxPerBroadcast = Transport::kMaxBroadcast / sizeof(WorkerDescription);

WorkerDescription describe_self(int rank, const Endpoints& own, const std::string& error) {
  WorkerDescription description;
  description.worker = rank;
  description.error = error.empty() ? 0 : 1;
  std::string text = error;
  if (error.empty()) {
    Endpoints shortened = own;
    // If the host has too many addresses for the note, leave out the last ones.
    while ((text = shortened.text()).size() >= description.text.size() && !shortened.addresses.empty())
      shortened.addresses.pop_back();
  }
  text.copy(description.text.data(), description.text.size() - 1);
  return description;
}

std::int64_t agree_on_min(Transport& transport, std::int64_t value) {
  transport.reduce_min(std::span(&value, 1));
  return value;
}

/// Gathers the descriptions of this node's workers.
std::vector<WorkerDescription> gather_node(Transport& transport, const WorkerDescription& own) {
  std::memcpy(transport.note(transport.node_rank()).data(), &own, sizeof own);
  agree_on_min(transport, 0);
  std::vector<WorkerDescription> descriptions(static_cast<std::size_t>(transport.node_size()));
  for (std::size_t i = 0; i < descriptions.size(); ++i)
    std::memcpy(&descriptions[i], transport.note(static_cast<int>(i)).data(), sizeof(WorkerDescription));
  agree_on_min(transport, 0);  // a barrier: after it the notes may change
  return descriptions;
}

/// Gathers the descriptions of all workers.  The first worker of each node broadcasts those of its node, in the order
/// of ranks.
std::vector<WorkerDescription> gather_all(Transport& transport, std::vector<WorkerDescription> of_node) {
  if (!transport.nodes_apart()) return of_node;
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = transport.worker_on_node(0);
  std::vector<WorkerDescription> all;
  // The senders are the first workers of the nodes in ascending order: each round finds the smallest one that has not
  // sent yet.
  for (std::int64_t sender = -1; std::ssize(all) < transport.size();) {
    const std::int64_t previous_sender = sender;
    sender = agree_on_min(transport, first > previous_sender ? first : kNone);
    const bool is_own_node = sender == first;
    std::int64_t count = is_own_node ? std::ssize(of_node) : 0;
    transport.broadcast(std::as_writable_bytes(std::span(&count, 1)), static_cast<int>(sender));
    std::vector<WorkerDescription> received =
        is_own_node ? of_node : std::vector<WorkerDescription>(static_cast<std::size_t>(count));
    for (std::size_t begin = 0; begin < received.size(); begin += kMaxPerBroadcast) {
      const auto part = std::span(received).subspan(begin, std::min(kMaxPerBroadcast, received.size() - begin));
      transport.broadcast(std::as_writable_bytes(part), static_cast<int>(sender));
    }
    all.insert(all.end(), received.begin(), received.end());
  }
  return all;
}

}  // namespace

Key agree_on_key(Transport& transport) {
  std::array<char, 2 * Key::kBytes + 1> text{};
  if (transport.rank() == 0) {
    try {
      Key::random().text().copy(text.data(), text.size() - 1);
    } catch (const Error&) {  // the empty text reports the error to all
    }
  }
  transport.broadcast(std::as_writable_bytes(std::span(text)), 0);
  if (text.front() == '\0') base::throw_system_error(0, "rank 0: the system gives no random bytes for a key");
  return Key::parse(text.data());
}

std::vector<Endpoints> exchange_endpoints(Transport& transport, const Endpoints& own, const std::string& error) {
  const WorkerDescription description = describe_self(transport.rank(), own, error);
  const auto descriptions = gather_all(transport, gather_node(transport, description));
  std::vector<Endpoints> all(static_cast<std::size_t>(transport.size()));
  const WorkerDescription* first_failed = nullptr;
  for (const WorkerDescription& worker : descriptions)
    if (worker.error != 0 && (first_failed == nullptr || worker.worker < first_failed->worker)) first_failed = &worker;
  if (first_failed != nullptr)
    base::throw_system_error(0, "rank ", first_failed->worker, ": ", first_failed->text.data());
  for (const WorkerDescription& worker : descriptions)
    all[static_cast<std::size_t>(worker.worker)] = Endpoints::parse(worker.text.data());
  return all;
}

std::vector<Address> find_usable_addresses(const Endpoints& to) {
  const bool on_this_host = to.is_on_this_host();
  const auto own_addresses = base::host::own_addresses();
  std::vector<Address> found;
  for (const std::string& text : to.addresses) {
    auto address = Address::parse(text);
    if (!address || address->is_local() != on_this_host) continue;
    // Skip an address that this host has too: private networks of several hosts may have equal addresses.
    if (!on_this_host &&
        std::ranges::find(own_addresses, std::get<Address::Tcp>(address->where).host) != own_addresses.end())
      continue;
    found.push_back(std::move(*address));
  }
  return found;
}

}  // namespace plait::transport::native
