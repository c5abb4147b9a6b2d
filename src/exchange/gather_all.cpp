// Redistributes arrays inside one process that holds the arrays of all ranks. Thread t of n fills the targets t, t + n,
// t + 2n and so on, each from all sources.

#include <algorithm>
#include <vector>

#include "exchange/exchange.hpp"
#include "transport/thread/team.hpp"

namespace plait::exchange {

namespace {

/// Returns the index of a rank in an ascending list.
std::size_t find_index(const std::vector<std::int64_t>& ranks, std::int64_t rank) {
  return static_cast<std::size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

}  // namespace

void gather_all(const plan::Pairs& pairs, std::span<const copy::LocalArray> from, std::span<const copy::LocalArray> to,
                std::int64_t element_bytes, int threads) {
  if (pairs.elements() == 0) return;
  const std::vector<std::int64_t> sources = pairs.source().rank_numbers();
  const std::vector<std::int64_t> targets = pairs.target().rank_numbers();
  transport::thread::run_team(threads, [&](transport::Transport& transport) {
    for (auto i = static_cast<std::size_t>(transport.rank()); i < targets.size();
         i += static_cast<std::size_t>(threads)) {
      std::vector<Share> shares;
      for (const std::int64_t sender : pairs.senders(targets[i]))
        for (plan::Product& product : pairs.products(sender, targets[i]))
          shares.push_back({find_index(sources, sender), std::move(product)});
      Gather target_gather(pairs.target().padded_shape(targets[i]), dimension_order(pairs.source()),
                           dimension_order(pairs.target()), element_bytes, std::move(shares));
      target_gather.fit(from, to[i]);
      Stage stage(target_gather.stage_bytes());
      const Gather* const gathers[] = {&target_gather};
      gather(gathers, from, to.subspan(i, 1), stage.data(), {});
    }
  });
}

}  // namespace plait::exchange
