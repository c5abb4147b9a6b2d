// Composes the text that `explain` shows for a plan, one property per line.

#include "plan/access/explain_access.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "plan/access/prediction.hpp"
#include "plan/access/run_counter.hpp"

namespace plait::plan {

namespace {

using base::append_parts;
using base::bytes_text;
using base::time_text;

std::string count_text(std::int64_t count, const char* noun) {
  return base::text(count, ' ', noun, count == 1 ? "" : "s");
}

/// Returns the predicted time of a strategy as text.
std::string predicted_text(const AccessPlan& plan, Strategy strategy) {
  return time_text(predicted_seconds(plan, strategy));
}

/// Describes the strategy, and the reason for it.
void append_strategy(const AccessPlan& plan, std::string& out) {
  const AccessOptions& options = plan.options();
  const Strategy strategy = plan.strategy();
  append_parts(out, "strategy   ", to_string(strategy));
  if (options.as_measured && options.readers > 0) append_parts(out, " by ", options.readers);
  if (plan.each_node()) append_parts(out, " in each node");
  if (options.strategy == Strategy::kAutomatic && plan.section().chunks) {
    append_parts(out, ", as chunks need, predicted ", predicted_text(plan, strategy));
  } else if (options.strategy == Strategy::kAutomatic && reads_from_disk(plan)) {
    append_parts(out, ", as the file was not cached when it was opened");
  } else if (options.strategy == Strategy::kAutomatic) {
    const Strategy other = strategy == Strategy::kDirect ? Strategy::kTwoPhase : Strategy::kDirect;
    append_parts(out, ", predicted ", predicted_text(plan, strategy), "; ", to_string(other), " would take ",
                 predicted_text(plan, other));
  } else {
    append_parts(out, options.as_measured ? ", as measured, predicted " : ", as asked, predicted ",
                 predicted_text(plan, strategy));
  }
}

/// Describes the readers or writers and their windows, the chunks, and the exchange.
void append_two_phase(const AccessPlan& plan, std::string& out) {
  const AccessTask& task = plan.task();
  const Section& section = plan.section();
  const std::int64_t bytes = plan.element_bytes();
  const std::int64_t nodes = plan.reader_ranks().nodes();
  append_parts(out, task.write ? "writers    " : "readers    ", plan.readers(), " of ", task.workers,
               plan.each_node() ? base::text(" in each of ", task.nodes->size(), " nodes")
               : nodes > 1      ? base::text(" on ", nodes, " nodes")
                                : "",
               ", ", bytes_text(std::min(plan.shares().share_elements(), section.elements) * bytes), " each in ",
               count_text(plan.windows(), "window"), " of at most ", bytes_text(plan.window_elements() * bytes), ", ",
               count_text(requests(plan, plan.strategy()), "request"), '\n');
  if (section.chunks)
    append_parts(out, "chunks     ", section.chunks->count(), " of ",
                 bytes_text(section.chunks->padded_elements() * bytes), ", each touched by one rank\n");
  append_parts(out, "exchange   at most ", count_text(RunCounter(plan, largest_rank(plan.layout())).in_window(), "run"),
               " a rank, ",
               plan.each_node() ? "through shared windows of each node, which reads for itself all that its ranks want"
               : task.nodes_apart ? "through shared windows inside a node and packed messages between nodes"
               : task.workers > 1 ? "through windows that all see, without messages"
                                  : "inside the process",
               '\n');
}

}  // namespace

std::string explain(const AccessPlan& plan, const std::string& store_name) {
  const bool write = plan.task().write;
  std::string out;
  append_parts(out, write ? "write      " : "read       ", to_string(plan.layout()), write ? " into " : " from ",
               store_name, ", ", plan.section().elements, " elements of ", bytes_text(plan.element_bytes()), '\n');
  append_strategy(plan, out);
  const std::string& source = plan.costs().source;
  append_parts(out, "\nconstants  ", source.empty() ? "built in" : base::text("of ", source), '\n');
  if (plan.strategy() == Strategy::kDirect) {
    append_parts(out, "requests   at most ", requests(plan, plan.strategy()), " a rank, each straight ",
                 write ? "from" : "into", " its array\n");
  } else {
    append_two_phase(plan, out);
  }
  append_parts(out, "memory     ", bytes_text(plan.staging_bytes()), " of staging a rank, of ",
               bytes_text(plan.staging().memory_bytes()), " allowed\n");
  return out;
}

}  // namespace plait::plan
