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

/// The description of a worker for its node.
struct WorkerDescription {
  std::int32_t worker = 0;
  std::int32_t trouble = 0;  // nonzero: the text explains why there are no endpoints
  std::array<char, Transport::kNoteBytes - 2 * sizeof(std::int32_t)> text{};
};
static_assert(sizeof(WorkerDescription) <= Transport::kNoteBytes);
constexpr std::size_t kCardsAtOnce = Transport::kMaxBroadcast / sizeof(WorkerDescription);

WorkerDescription own_card(int rank, const Endpoints& own, const std::string& trouble) {
  WorkerDescription card;
  card.worker = rank;
  card.trouble = trouble.empty() ? 0 : 1;
  std::string text = trouble;
  if (trouble.empty()) {
    Endpoints fitting = own;
    // A host with dozens of networks is reached by the first ones.
    while ((text = fitting.text()).size() >= card.text.size() && !fitting.addresses.empty())
      fitting.addresses.pop_back();
  }
  text.copy(card.text.data(), card.text.size() - 1);
  return card;
}

std::int64_t least(Transport& transport, std::int64_t mine) {
  transport.reduce_min(std::span(&mine, 1));
  return mine;
}

/// Gathers the cards of this node's workers.
std::vector<WorkerDescription> cards_of_node(Transport& transport, const WorkerDescription& own) {
  std::memcpy(transport.note(transport.node_rank()).data(), &own, sizeof own);
  least(transport, 0);
  std::vector<WorkerDescription> cards(static_cast<std::size_t>(transport.node_size()));
  for (std::size_t i = 0; i < cards.size(); ++i)
    std::memcpy(&cards[i], transport.note(static_cast<int>(i)).data(), sizeof(WorkerDescription));
  least(transport, 0);  // after this the notes may change
  return cards;
}

/// Gathers the cards of all nodes, each from its first worker.
std::vector<WorkerDescription> cards_of_all(Transport& transport, std::vector<WorkerDescription> mine) {
  if (!transport.nodes_apart()) return mine;
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = transport.worker_on_node(0);
  std::vector<WorkerDescription> all;
  for (std::int64_t speaker = -1; std::ssize(all) < transport.size();) {
    const std::int64_t before = speaker;
    speaker = least(transport, first > before ? first : kNone);
    const bool own = speaker == first;
    std::int64_t count = own ? std::ssize(mine) : 0;
    transport.broadcast(std::as_writable_bytes(std::span(&count, 1)), static_cast<int>(speaker));
    std::vector<WorkerDescription> theirs =
        own ? mine : std::vector<WorkerDescription>(static_cast<std::size_t>(count));
    for (std::size_t at = 0; at < theirs.size(); at += kCardsAtOnce) {
      const auto some = std::span(theirs).subspan(at, std::min(kCardsAtOnce, theirs.size() - at));
      transport.broadcast(std::as_writable_bytes(some), static_cast<int>(speaker));
    }
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  return all;
}

}  // namespace

Key agree_on_key(Transport& transport) {
  std::array<char, 2 * Key::kBytes + 1> text{};
  if (transport.rank() == 0) {
    try {
      Key::random().text().copy(text.data(), text.size() - 1);
    } catch (const Error&) {  // the others are to get the error
    }
  }
  transport.broadcast(std::as_writable_bytes(std::span(text)), 0);
  if (text.front() == '\0') base::throw_system_error(0, "rank 0: the system gives no random bytes for a key");
  return Key::parse(text.data());
}

std::vector<Endpoints> exchange_endpoints(Transport& transport, const Endpoints& own, const std::string& trouble) {
  const WorkerDescription card = own_card(transport.rank(), own, trouble);
  const auto cards = cards_of_all(transport, cards_of_node(transport, card));
  std::vector<Endpoints> all(static_cast<std::size_t>(transport.size()));
  const WorkerDescription* first = nullptr;
  for (const WorkerDescription& one : cards)
    if (one.trouble != 0 && (first == nullptr || one.worker < first->worker)) first = &one;
  if (first != nullptr) base::throw_system_error(0, "rank ", first->worker, ": ", first->text.data());
  for (const WorkerDescription& one : cards)
    all[static_cast<std::size_t>(one.worker)] = Endpoints::parse(one.text.data());
  return all;
}

std::vector<Address> leading_to(const Endpoints& to) {
  const bool near = to.near();
  const auto here = base::host::own_addresses();
  std::vector<Address> found;
  for (const std::string& text : to.addresses) {
    auto address = Address::parse(text);
    if (!address || address->local() != near) continue;
    // Hosts may have private networks with equal addresses.
    if (!near && std::find(here.begin(), here.end(), std::get<Address::Tcp>(address->where).host) != here.end())
      continue;
    found.push_back(std::move(*address));
  }
  return found;
}

}  // namespace plait::transport::native
