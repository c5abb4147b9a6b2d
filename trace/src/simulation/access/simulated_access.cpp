// The simulation of a collective access: it builds the machine, runs the coroutines of its ranks on one virtual clock,
// and collects the results.
//
// Long accesses repeat the same windows (pieces of the file in memory), so only as many windows are simulated as take
// some seconds of computing. Example: 20 readers on nodes of 50 ranks, and 10,000 messages for one window of every
// reader. The work of one window is about 10,000 + 20 * 50 = 11,000 copies and messages, so 10,000,000 / 11,000 = 909
// windows are simulated.

#include "simulation/access/simulated_access.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/int128.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "plan/access/planner.hpp"
#include "plan/access/prediction.hpp"
#include "simulation/access/rank.hpp"

namespace plait::simulation {

namespace {

constexpr std::int64_t kMaxRanks = 1'000'000;
constexpr std::int64_t kMaxOnNode = 4096;

std::int64_t ranks_per_node(const AccessRequest& request, const AccessSettings& settings) {
  return settings.nodes.ranks == 0 ? request.ranks : std::min(settings.nodes.ranks, request.ranks);
}

void require(bool holds, std::string_view what, std::int64_t found, std::string_view expected) {
  if (!holds) base::throw_argument_error("found ", what, " = ", found, ", expected ", expected, "; correct it");
}

/// Estimates the messages between nodes that one window of every reader needs, from a sample of at most 8 readers.
std::int64_t messages_per_window(const plan::AccessPlan& plan, std::int64_t ranks_per_node) {
  constexpr std::int64_t kSamples = 8;
  const std::int64_t samples = std::min(plan.readers(), kSamples);
  std::int64_t messages = 0;
  for (std::int64_t k = 0; k < samples; ++k) {
    const std::int64_t reader = k * plan.readers() / samples;
    const std::int64_t node = plan.reader_ranks().rank_at(reader) / ranks_per_node;
    for (const plan::RankPart& part : plan.owners().parts(plan.window(reader, 0)))
      messages += part.rank / ranks_per_node != node ? 1 : 0;
  }
  return samples == 0 ? 0 : messages * plan.readers() / samples;
}

/// One simulation: the nodes of the machine, the ranks and the operations in progress.
class Run {
 public:
  Run(const AccessRequest& request, const AccessSettings& settings)
      : settings_(settings),
        plan_(plan_simulated_access(request, settings)),
        ranks_per_node_(ranks_per_node(request, settings)),
        resumer_(clock_),
        network_(settings.network, base::ceil_divide(request.ranks, ranks_per_node_), request.ranks > ranks_per_node_),
        messages_(resumer_, network_, ranks_per_node_),
        files_(resumer_, network_, settings.files, settings.file_end),
        barrier_(resumer_, request.ranks, agreement_time()) {
    outcome_.nodes = network_.nodes();
    outcome_.ranks.resize(static_cast<std::size_t>(request.ranks));
    choose_granularity();
    context_ =
        std::make_unique<Context>(Context{plan_, settings_, resumer_, network_, messages_, files_, barrier_, nullptr,
                                          outcome_, request.write, request.data_offset, ranks_per_node_,
                                          outcome_.simulated, plan::copy_seconds_per_element(plan_, settings_.costs)});
    if (outcome_.whole_windows) {
      tally_ = std::make_unique<WindowTally>(plan_, request.write, ranks_per_node_, resumer_, network_);
      context_->tally = tally_.get();
    }
    make_nodes(request.ranks);
  }

  AccessOutcome run(const std::function<void(double)>& progress) {
    for (const Task& task : tasks_) task.start_at(resumer_, 0);
    constexpr std::int64_t kEventsPerReport = 1 << 16;
    for (std::int64_t events = 1; !clock_.empty(); ++events) {
      clock_.run_next();
      if (events % kEventsPerReport == 0 && progress) progress(fraction_done());
    }
    for (const Task& task : tasks_) task.check();
    if (ended_ < tasks_.size())  // an error is better than a wrong figure
      base::throw_system_error(0, "the simulated access came to an end while ", tasks_.size() - ended_,
                               " ranks had not; this is a mistake of Plait's, please report it with the layout and the "
                               "machine file");
    outcome_.drained = std::max(outcome_.elapsed, files_.last_completion());
    outcome_.links = network_.links();
    outcome_.devices = files_.device_uses();
    return std::move(outcome_);
  }

 private:
  /// Time of an agreement: a reduction and a broadcast over the nodes, both along trees.
  Time agreement_time() const {
    const auto depth = std::bit_width(static_cast<std::uint64_t>(network_.nodes() - 1));
    return static_cast<Time>(2 * depth) * settings_.network.latency +
           static_cast<Time>(settings_.costs.wait_seconds * 1e9);
  }

  /// Chooses the number of windows of each reader that are simulated.
  void choose_granularity() {
    outcome_.windows = plan_.strategy() == plan::Strategy::kDirect ? 0 : plan_.windows();
    outcome_.simulated = outcome_.windows;
    if (outcome_.windows == 0) {
      const std::int64_t requests = plan::requests(plan_, plan::Strategy::kDirect);
      if (base::Int128{requests} * plan_.task().workers > kMaxRequests)
        base::throw_argument_error("found a direct access of up to ", requests, " requests on each of ",
                                   plan_.task().workers, " ranks, expected at most ", kMaxRequests,
                                   " together; use fewer ranks, or the strategy two-phase");
      return;
    }
    const std::int64_t messages =
        network_.nodes() > 1 && !plan_.each_node() ? messages_per_window(plan_, ranks_per_node_) : 0;
    outcome_.whole_windows = messages > settings_.max_messages;
    const std::int64_t work = std::max<std::int64_t>(messages + plan_.readers() * ranks_per_node_, 1);
    const std::int64_t limit = settings_.windows > 0 ? settings_.windows : std::max<std::int64_t>(kMaxWork / work, 1);
    outcome_.simulated = std::min(outcome_.windows, limit);
  }

  void make_nodes(std::int64_t ranks) {
    for (std::int64_t first = 0; first < ranks; first += ranks_per_node_) {
      Node& node = nodes_.emplace_back();
      node.number = first / ranks_per_node_;
      node.windows.resize(static_cast<std::size_t>(std::min(ranks_per_node_, ranks - first)));
      node.cores = Cores(settings_.nodes.cores, node.windows.size());
      for (std::size_t k = 0; k < node.windows.size(); ++k) {
        Windows& windows = node.windows[k];
        const auto number = static_cast<std::int64_t>(k);
        windows.reader =
            plan_.each_node() ? std::min(number, plan_.readers()) : plan_.reader_ranks().reader_at(first + number);
        windows.window_count = outcome_.simulated;
        while (windows.window_count > 0 && plan_.window(windows.reader, windows.window_count - 1).empty())
          --windows.window_count;
        all_windows_ += windows.window_count;
      }
    }
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      ranks_.emplace_back(*context_, nodes_[static_cast<std::size_t>(rank / ranks_per_node_)], rank);
    for (Rank& rank : ranks_) tasks_.push_back(take_part(rank));
  }

  /// Fraction of all windows that ranks have claimed.
  double fraction_done() const {
    std::int64_t claimed = 0;
    for (const Node& node : nodes_)
      for (const Windows& windows : node.windows) claimed += windows.claimed;
    return all_windows_ > 0 ? static_cast<double>(claimed) / static_cast<double>(all_windows_) : 0;
  }

  /// Runs one rank. After the last rank has ended, everything in memory is sent to the device.
  Task take_part(Rank& rank) {
    co_await rank.run();
    if (++ended_ < tasks_.size()) co_return;
    outcome_.elapsed = clock_.now();
    files_.flush();
  }

  EventQueue clock_;
  AccessSettings settings_;
  plan::AccessPlan plan_;
  std::int64_t ranks_per_node_;
  Resumer resumer_;
  Network network_;
  Messages messages_;
  Files files_;
  Barrier barrier_;
  AccessOutcome outcome_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<WindowTally> tally_;
  std::deque<Node> nodes_;
  std::deque<Rank> ranks_;
  std::vector<Task> tasks_;
  std::size_t ended_ = 0;
  std::int64_t all_windows_ = 0;
};

}  // namespace

void AccessSettings::check() const {
  require(nodes.ranks >= 0, "ranks of a node", nodes.ranks, "1 or above, or 0 for all");
  require(nodes.cores >= 1, "cores of a node", nodes.cores, "1 or above");
  require(windows >= 0, "windows", windows, "1 or above, or 0 for as many as can be simulated");
  require(network.eager >= 0, "bytes of an eager message", network.eager, "0 or above");
  require(files.dirty_start >= 0, "bytes from which on writes go to the device", files.dirty_start, "0 or above");
  require(files.dirty_limit >= 0, "bytes above which writers wait", files.dirty_limit, "0 or above");
}

plan::AccessPlan plan_simulated_access(const AccessRequest& request, const AccessSettings& settings) {
  settings.check();
  require(request.ranks >= 1 && request.ranks <= kMaxRanks, "ranks", request.ranks, base::text("1 to ", kMaxRanks));
  const std::int64_t per_node = ranks_per_node(request, settings);
  require(per_node <= kMaxOnNode, "ranks of one node", per_node,
          base::text("at most ", kMaxOnNode, ", as per_node says"));
  if (request.layout.ranks_end() > request.ranks)
    base::throw_argument_error("the layout ", to_string(request.layout), " has the rank ",
                               request.layout.ranks_end() - 1, ", but there are ", request.ranks,
                               " ranks; use at least ", request.layout.ranks_end());
  std::shared_ptr<plan::Nodes> nodes;
  if (per_node < request.ranks) {
    nodes = std::make_shared<plan::Nodes>();
    for (std::int64_t first = 0; first < request.ranks; first += per_node)
      nodes->push_back(IndexSet::range(first, std::min(first + per_node, request.ranks)));
  }
  plan::AccessOptions options = request.options;
  options.costs = std::make_shared<plan::CostModel>(settings.costs);
  return plan::plan_access(
      request.section, request.layout,
      {request.element_bytes, request.data_offset, request.ranks, nodes != nullptr, request.write, nodes}, options);
}

AccessOutcome simulate_access(const AccessRequest& request, const AccessSettings& settings,
                              const std::function<void(double)>& progress) {
  return Run(request, settings).run(progress);
}

}  // namespace plait::simulation
