#include <algorithm>

#include "base/text.hpp"
#include "plan/access/access.hpp"
#include "plan/access/run_counter.hpp"

namespace plait::plan {

const char* to_string(Strategy strategy) {
  switch (strategy) {
    case Strategy::kDirect: return "direct";
    case Strategy::kTwoPhase: return "two-phase";
    case Strategy::kAutomatic: break;
  }
  return "automatic";
}

namespace {

std::string count_text(std::int64_t count, const char* noun) {
  return base::text(count, ' ', noun, count == 1 ? "" : "s");
}

}  // namespace

std::string AccessPlan::explain(const std::string& store_name) const {
  using base::bytes_text;
  using base::time_text;
  std::string out;
  const auto add = [&](const auto&... parts) { base::append_parts(out, parts...); };
  add(write_ ? "write      " : "read       ", to_string(layout_), write_ ? " into " : " from ", store_name, ", ",
      section_.elements, " elements of ", bytes_text(element_bytes_), '\n');
  add("strategy   ", to_string(strategy_));
  if (options_.as_measured && options_.readers > 0) add(" by ", options_.readers);
  if (each_node_) add(" in each node");
  if (options_.strategy == Strategy::kAutomatic && section_.chunks) {
    add(", as chunks need, predicted ", time_text(predicted_seconds(strategy_)));
  } else if (options_.strategy == Strategy::kAutomatic && reads_from_disk()) {
    add(", as the file was not cached when it was opened");
  } else if (options_.strategy == Strategy::kAutomatic) {
    const Strategy other = strategy_ == Strategy::kDirect ? Strategy::kTwoPhase : Strategy::kDirect;
    add(", predicted ", time_text(predicted_seconds(strategy_)), "; ", to_string(other), " would take ",
        time_text(predicted_seconds(other)));
  } else {
    add(options_.as_measured ? ", as measured, predicted " : ", as asked, predicted ",
        time_text(predicted_seconds(strategy_)));
  }
  add("\nconstants  ", model_.source.empty() ? "built in" : base::text("of ", model_.source), '\n');
  if (strategy_ == Strategy::kDirect) {
    add("requests   at most ", requests(strategy_), " a rank, each straight ", write_ ? "from" : "into",
        " its array\n");
  } else {
    add(write_ ? "writers    " : "readers    ", readers_, " of ", workers_,
        each_node_            ? base::text(" in each of ", nodes_->size(), " nodes")
        : spread_.nodes() > 1 ? base::text(" on ", spread_.nodes(), " nodes")
                              : "",
        ", ", bytes_text(std::min(share_, section_.elements) * element_bytes_), " each in ",
        count_text(windows_, "window"), " of at most ", bytes_text(window_ * element_bytes_), ", ",
        count_text(requests(strategy_), "request"), '\n');
    if (section_.chunks)
      add("chunks     ", section_.chunks->count(), " of ", bytes_text(section_.chunks->room() * element_bytes_),
          ", each touched by one rank\n");
    add("exchange   at most ", count_text(RunCounter(*this, largest_rank()).in_window(), "run"), " a rank, ",
        each_node_     ? "through shared windows of each node, which reads for itself all that its ranks want"
        : nodes_apart_ ? "through shared windows inside a node and packed messages between nodes"
        : workers_ > 1 ? "through windows that all see, without messages"
                       : "inside the process",
        '\n');
  }
  add("memory     ", bytes_text(staging_bytes()), " of staging a rank, of ",
      bytes_text(options_.memory_bytes == 0 ? kDefaultMemory : options_.memory_bytes), " allowed\n");
  return out;
}

}  // namespace plait::plan
