// Runs a redistribution inside a node: decides which worker copies which bytes.
//
// Every worker writes a note, a small record with the addresses of its arrays, into shared memory (announce). After an
// agreement all workers read all notes and compute the same Reach from them, so no further message is needed. If all
// arrays are in shared memory, the workers divide the work by memory: targets that read interleaved parts of the same
// source lines are filled together, each worker doing an equal part of all of them (neighbours).
//
// Example: 4 ranks of a node redistribute 1000x1000 doubles from `(block, *) onto (4)` to `(*, block) onto (4)`. All
// targets own the same rows, so the four are neighbours. A target of 1000x250 has 8 tiles of 126 rows, and each worker
// fills 2 tiles of all four targets, for which it reads whole source rows once. If each worker filled its own target,
// it would read a quarter of every source row.

#include "exchange/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "plan/conversion/partners.hpp"
#include "transport/shared_area.hpp"

namespace plait::exchange {

namespace {

/// Maximum number of targets that are filled together. With more of them, their stretches of a source would be too
/// short.
constexpr std::size_t kMaxNeighbours = 8;

/// One worker's description of an array, for the other workers of its node.
struct ArrayNote {
  enum Kind : std::int64_t { kNone, kPrivate, kShared };
  std::int64_t kind = kNone;
  transport::SharedAddress address;
  std::int64_t own_address = 0;  // address in the worker's process
  std::array<std::int64_t, kMaxDimensions> strides{};
};
/// What a worker publishes for the others of its node before each run.
struct Note {
  ArrayNote source;
  ArrayNote target;
  transport::PeerToken token;
  std::int64_t may_pull = 0;  // nonzero if system calls can read this worker's source and fill its target
};
static_assert(sizeof(Note) <= transport::Transport::kNoteBytes);

Note note_at(transport::Transport& transport, int node_rank) {
  Note note;
  std::memcpy(&note, transport.note(node_rank).data(), sizeof note);
  return note;
}

ArrayNote make_note(const copy::LocalArray* array, const transport::Transport& transport) {
  ArrayNote note;
  if (array == nullptr) return note;
  note.kind = ArrayNote::kPrivate;
  note.own_address = reinterpret_cast<std::intptr_t>(array->data);
  std::copy(array->strides.begin(), array->strides.end(), note.strides.begin());
  if (transport.one_process()) {
    note.kind = ArrayNote::kShared;
    note.address.offset = reinterpret_cast<std::intptr_t>(array->data);
  } else if (const auto address = transport::find_shared(array->data);
             address && address->group == transport.node_group()) {
    note.kind = ArrayNote::kShared;
    note.address = *address;
  }
  return note;
}

/// Returns the array of a note at its address in this process.
copy::LocalArray make_view(const ArrayNote& note, std::int64_t rank, std::size_t dimensions,
                           const transport::Transport& transport) {
  copy::LocalArray array{rank, nullptr, Extents(dimensions, 0)};
  std::copy_n(note.strides.begin(), dimensions, array.strides.begin());
  if (transport.one_process()) {
    array.data = reinterpret_cast<std::byte*>(static_cast<std::intptr_t>(note.address.offset));
    return array;
  }
  array.data = transport::locate_shared(note.address);
  if (array.data == nullptr)
    base::throw_system_error(0, "the shared array of rank ", rank,
                             " cannot be reached by this process; make it with this communicator");
  return array;
}

const char* reach_name(Reach reach) {
  switch (reach) {
    case Reach::kBoth: return "shared memory, one copy, work shared out by memory";
    case Reach::kSources: return "shared sources, one copy by the receiver";
    case Reach::kTargets: return "shared targets, one copy by the sender";
    case Reach::kSystem: return "the system reads from process to process: long runs in one copy, short ones in two";
    case Reach::kNeither: break;
  }
  return "windows, one copy in and one out";
}

std::vector<Share> make_shares(const plan::Pairs& pairs, std::int64_t sender, std::int64_t receiver,
                               std::size_t source) {
  std::vector<Share> shares;
  for (plan::Product& product : pairs.products(sender, receiver)) shares.push_back({source, std::move(product)});
  return shares;
}

/// True if two targets own the same indices of all dimensions except the one along which sources are contiguous.
bool side_by_side(const Layout& target, std::int64_t a, std::int64_t b, const DimensionOrder& source_order) {
  const std::vector<IndexSet> x = target.index_sets(a);
  const std::vector<IndexSet> y = target.index_sets(b);
  for (std::size_t d = 0; d < x.size(); ++d)
    if (d != source_order.back() && !(x[d] == y[d])) return false;
  return true;
}

}  // namespace

Exchange::Exchange(plan::Pairs pairs, std::int64_t element_bytes, std::int64_t memory_bytes,
                   transport::Transport& transport)
    : pairs_(std::move(pairs)),
      element_bytes_(element_bytes),
      transport_(transport),
      pairwise_(pairs_, element_bytes, memory_bytes, transport),
      window_bytes_(std::max(plan::kSlots * pairwise_.chunk_bytes(), Phases::max_window_bytes(memory_bytes))),
      memory_bytes_(memory_bytes) {
  // Messages between nodes have buffers of their own.
  const std::int64_t inside = memory_bytes - (transport.nodes_apart() ? pairwise_.message_bytes() : 0);
  if (Phases::chunk_bytes(element_bytes, inside, transport.node_size()) >=
      std::max(Phases::kMinChunkBytes, element_bytes))
    phases_.emplace(pairs_, element_bytes, inside, transport);
}

void Exchange::announce(const copy::LocalArray* source, const copy::LocalArray* target) {
  source_ = source;
  target_ = target;
  Note note{make_note(source, transport_), make_note(target, transport_), transport::PeerMemory::token(), 0};
  const bool is_private = note.source.kind == ArrayNote::kPrivate || note.target.kind == ArrayNote::kPrivate;
  note.may_pull = static_cast<std::int64_t>(!is_private || may_pull(source, target));
  std::memcpy(transport_.note(transport_.node_rank()).data(), &note, sizeof note);
}

/// Returns the best reach that all workers of the node have. All of them read the same notes, so they compute the same
/// result. Nothing is allocated, so a worker that has run out of memory does not differ.
Reach Exchange::common_reach() const {
  bool sources = true;
  bool targets = true;
  bool pulls = true;
  for (int node_rank = 0; node_rank < transport_.node_size(); ++node_rank) {
    const Note note = note_at(transport_, node_rank);
    pulls = pulls && note.may_pull != 0;
    sources = sources && note.source.kind != ArrayNote::kPrivate;
    targets = targets && note.target.kind != ArrayNote::kPrivate;
  }
  if (sources) return targets ? Reach::kBoth : Reach::kSources;
  if (targets) return Reach::kTargets;
  return pulls ? Reach::kSystem : Reach::kNeither;
}

/// True if system calls can read this worker's source and fill its target faster than windows. An earlier run has
/// tested the calls (try_peers()), so each worker knows the result before it writes its note.
bool Exchange::may_pull(const copy::LocalArray* source, const copy::LocalArray* target) {
  if (!transport_.peer_memory().able() || transport_.node_size() == 1) return false;
  const Layout& longest = pairs_.target();
  if (pairs_.elements() / std::max<std::int64_t>(longest.size(), 1) * element_bytes_ <
      min_pulled.load(std::memory_order_relaxed))
    return false;
  const auto is_dense = [&](const copy::LocalArray* array, const Layout& layout) {
    return array == nullptr || array->strides == dense(layout, transport_.rank()).strides;
  };
  if (!is_dense(source, pairs_.source()) || !is_dense(target, pairs_.target())) return false;
  if (source != nullptr && !transport::PeerMemory::readable(source->data)) return false;
  return target == nullptr || pull().pays();
}

void Exchange::try_peers() {
  transport::PeerMemory& memory = transport_.peer_memory();
  if (memory.tried()) return;
  std::vector<transport::PeerToken> tokens;
  for (int node_rank = 0; node_rank < transport_.node_size(); ++node_rank)
    tokens.push_back(note_at(transport_, node_rank).token);
  memory.try_all(tokens);
}

/// Returns the array that a rank would have without gaps. Its address is a placeholder: callers use only the strides.
copy::LocalArray Exchange::dense(const Layout& layout, std::int64_t rank) const {
  static std::byte somewhere;
  const Extents strides = plan::dense_strides(layout.padded_shape(rank), layout.order());
  return {rank, &somewhere, plan::in_bytes(strides, element_bytes_)};
}

void Exchange::collect_views(Views& views) const {
  const bool sources = reach_ == Reach::kBoth || reach_ == Reach::kSources;
  const bool targets = reach_ == Reach::kBoth || reach_ == Reach::kTargets;
  const auto dimensions = static_cast<std::size_t>(pairs_.source().dimensions());
  for (int node_rank = 0; node_rank < transport_.node_size(); ++node_rank) {
    const Note note = note_at(transport_, node_rank);
    const int worker = transport_.worker_on_node(node_rank);
    if (reach_ == Reach::kSystem && worker != transport_.rank()) {
      copy::LocalArray peer_source{worker,
                                   reinterpret_cast<std::byte*>(static_cast<std::intptr_t>(note.source.own_address)),
                                   Extents(dimensions, 0)};
      std::copy_n(note.source.strides.begin(), dimensions, peer_source.strides.begin());
      views.sources.push_back(std::move(peer_source));
      views.targets.push_back({worker, nullptr, Extents(dimensions, 0)});
      continue;
    }
    const auto view = [&](const ArrayNote& array, bool reachable) {
      return reachable && array.kind == ArrayNote::kShared ? make_view(array, worker, dimensions, transport_)
                                                           : copy::LocalArray{worker, nullptr, Extents(dimensions, 0)};
    };
    views.sources.push_back(view(note.source, sources));
    views.targets.push_back(view(note.target, targets));
  }
}

void Exchange::run() {
  Views views;
  // An error of this worker ends its own copies only. It still takes part in everything that the others wait for.
  collective::FirstError error;
  reach_ = common_reach();
  if (*reach_ == Reach::kNeither) error.keep([&] { try_peers(); });
  error.keep([&] { collect_views(views); });
  if (!error.any()) {
    error.keep([&] {
      if (*reach_ == Reach::kNeither) {
        if (source_ != nullptr && target_ != nullptr) fill(own_message(), views, {source_, 1});
      } else if (*reach_ == Reach::kSystem) {
        if (source_ != nullptr) views.sources[static_cast<std::size_t>(transport_.node_rank())] = *source_;
        if (target_ != nullptr) pull().run(views.sources, *target_, transport_.peer_memory());
        if (source_ != nullptr && target_ != nullptr && !pull().fills_own()) fill(own_message(), views, {source_, 1});
      } else if (*reach_ == Reach::kBoth) {
        // A worker with an empty target takes part too, because it does a part of its neighbours' work.
        if (pairs_.target().has_rank(transport_.rank())) fill(whole_group(), views, views.sources);
      } else if (*reach_ == Reach::kSources) {
        if (target_ != nullptr) fill(own_target(), views, views.sources);
      } else if (source_ != nullptr) {
        fill(scattered(), views, {source_, 1});
      }
    });
  }
  // Windows are created collectively over all nodes, even if this node needs none.
  if (transport_.nodes_apart()) transport_.windows(window_bytes_);
  const bool inside = *reach_ == Reach::kNeither;
  if (inside && phases_) error.keep([&] { phases_->run(source_, target_); });
  const bool by_pairs = inside && !phases_;
  if (by_pairs || transport_.nodes_apart()) error.keep([&] { pairwise_.run(source_, target_, by_pairs); });
  error.rethrow();
}

void Exchange::fill(Group& group, const Views& views, std::span<const copy::LocalArray> sources) {
  std::vector<const Gather*> gathers;
  std::vector<copy::LocalArray> targets;
  std::int64_t stage = 0;
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    const int worker = static_cast<int>(group.ranks[i]);
    targets.push_back(worker == transport_.rank() && target_ != nullptr
                          ? *target_
                          : views.targets[static_cast<std::size_t>(transport_.rank_on_node(worker))]);
    group.gathers[i].fit(sources, targets.back());
    gathers.push_back(&group.gathers[i]);
    stage = std::max(stage, group.gathers[i].stage_bytes());
  }
  if (!stage_ || stage_->bytes() < stage) stage_.emplace(stage);
  const bool is_divided = &group == (whole_group_ ? &*whole_group_ : nullptr);
  const WorkPart part = is_divided ? WorkPart{group.part, static_cast<std::int64_t>(group.ranks.size())} : WorkPart{};
  gather(gathers, sources, targets, stage_->data(), part);
}

bool Exchange::is_on_node(std::int64_t rank) const { return transport_.rank_on_node(static_cast<int>(rank)) >= 0; }

std::vector<std::int64_t> Exchange::node_senders(std::int64_t target) const {
  std::vector<std::int64_t> result = pairs_.senders(target);
  std::erase_if(result, [this](std::int64_t rank) { return !is_on_node(rank); });
  return result;
}

/// Returns the elements that a target takes from senders. Sources are numbered by their node rank, or the source is
/// this worker's array alone.
Gather Exchange::gather_for(std::int64_t target, const std::vector<std::int64_t>& senders, bool by_node_rank) const {
  std::vector<Share> shares;
  for (const std::int64_t sender : senders) {
    const int node_rank = by_node_rank ? transport_.rank_on_node(static_cast<int>(sender)) : 0;
    for (Share& share : make_shares(pairs_, sender, target, static_cast<std::size_t>(node_rank)))
      shares.push_back(std::move(share));
  }
  return {pairs_.target().padded_shape(target), dimension_order(pairs_.source()), dimension_order(pairs_.target()),
          element_bytes_, std::move(shares)};
}

/// Returns the node's ranks whose targets read the same stretches of the sources as this worker's target, this worker
/// included. All members of a group compute the same group.
std::vector<std::int64_t> Exchange::neighbours() const {
  const DimensionOrder source_order = dimension_order(pairs_.source());
  const std::int64_t me = transport_.rank();
  std::vector<std::int64_t> ranks;
  for (int node_rank = 0; node_rank < transport_.node_size(); ++node_rank) {
    const std::int64_t rank = transport_.worker_on_node(node_rank);
    if (!pairs_.target().has_rank(rank)) continue;
    if (rank == me || (!source_order.empty() && side_by_side(pairs_.target(), rank, me, source_order)))
      ranks.push_back(rank);
  }
  const auto index = static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), me) - ranks.begin());
  const std::size_t first = index / kMaxNeighbours * kMaxNeighbours;
  const std::size_t last = std::min(first + kMaxNeighbours, ranks.size());
  return {ranks.begin() + static_cast<std::ptrdiff_t>(first), ranks.begin() + static_cast<std::ptrdiff_t>(last)};
}

Exchange::Group& Exchange::whole_group() {
  if (whole_group_) return *whole_group_;
  Group group;
  group.ranks = neighbours();
  for (const std::int64_t rank : group.ranks) {
    if (rank == transport_.rank()) group.part = static_cast<std::int64_t>(group.gathers.size());
    group.gathers.push_back(gather_for(rank, node_senders(rank), /*by_node_rank=*/true));
  }
  return whole_group_.emplace(std::move(group));
}

Exchange::Group& Exchange::own_target() {
  if (own_target_) return *own_target_;
  const std::int64_t me = transport_.rank();
  return own_target_.emplace(Group{{me}, {gather_for(me, node_senders(me), /*by_node_rank=*/true)}, 0});
}

Exchange::Group& Exchange::scattered() {
  if (scattered_) return *scattered_;
  Group group;
  const std::int64_t me = transport_.rank();
  for (const std::int64_t rank : pairs_.receivers(me)) {
    if (!is_on_node(rank)) continue;
    group.ranks.push_back(rank);
    group.gathers.push_back(gather_for(rank, {me}, /*by_node_rank=*/false));
  }
  // Each worker begins with the target after its own, so that two workers rarely write neighbouring elements at the
  // same time.
  const auto position = std::upper_bound(group.ranks.begin(), group.ranks.end(), me) - group.ranks.begin();
  std::rotate(group.ranks.begin(), group.ranks.begin() + position, group.ranks.end());
  std::rotate(group.gathers.begin(), group.gathers.begin() + position, group.gathers.end());
  return scattered_.emplace(std::move(group));
}

Pull& Exchange::pull() {
  if (pull_) return *pull_;
  const std::int64_t me = transport_.rank();
  std::vector<copy::LocalArray> sources;
  for (int node_rank = 0; node_rank < transport_.node_size(); ++node_rank) {
    const std::int64_t worker = transport_.worker_on_node(node_rank);
    sources.push_back(pairs_.source().has_rank(worker) ? dense(pairs_.source(), worker)
                                                       : copy::LocalArray{worker, nullptr, {}});
  }
  return pull_.emplace(gather_for(me, node_senders(me), /*by_node_rank=*/true),
                       static_cast<std::size_t>(transport_.node_rank()), sources, dense(pairs_.target(), me),
                       memory_bytes_);
}

Exchange::Group& Exchange::own_message() {
  if (own_message_) return *own_message_;
  const std::int64_t me = transport_.rank();
  return own_message_.emplace(Group{{me}, {gather_for(me, {me}, /*by_node_rank=*/false)}, 0});
}

std::int64_t Exchange::staging_bytes() const {
  const std::int64_t outside = transport_.nodes_apart() ? pairwise_.message_bytes() : 0;
  return phases_ ? phases_->staging_bytes() + outside : pairwise_.staging_bytes();
}

std::string Exchange::explain() const {
  const int me = transport_.rank();
  std::string text =
      base::text("from     ", to_string(pairs_.source()), "\nto       ", to_string(pairs_.target()), '\n');
  std::int64_t bytes = 0;
  for (const std::int64_t receiver : pairs_.receivers(me)) {
    std::int64_t elements = 0;
    std::int64_t runs = 0;
    for (const plan::Product& product : pairs_.products(me, receiver)) {
      std::int64_t product_elements = 1;
      std::int64_t pieces = 1;
      for (const plan::Pieces& dimension : product) {
        product_elements *= plan::elements(dimension);
        pieces *= plan::runs(dimension);
      }
      elements += product_elements;
      runs += pieces;
    }
    bytes += elements * element_bytes_;
    text += base::text("rank ", me, "   sends ", elements, " elements to rank ", receiver, " in ", runs,
                       receiver == me ? " boxes, its own" : " boxes", is_on_node(receiver) ? "" : ", on another node",
                       '\n');
  }
  text += base::text("moves    ", base::bytes_text(bytes), " from this rank\n");
  text +=
      base::text("inside   ", reach_ ? reach_name(*reach_) : "decided at the first run, by where the arrays lie", '\n');
  text += base::text("staging  at most ", base::bytes_text(staging_bytes()), " a rank, in chunks of ",
                     base::bytes_text(phases_ ? phases_->chunk_bytes() : pairwise_.chunk_bytes()), '\n');
  return text;
}

}  // namespace plait::exchange
