/// Carries out an access plan on one worker.
#pragma once

#include <span>

#include "engine/array.hpp"
#include "plan/access.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait::engine {

/// Everything that one worker's part of an access needs.
struct Access {
  const plan::AccessPlan& plan;
  store::Store& store;
  std::int64_t data_offset = 0;
  transport::Transport& transport;
  /// The one array of this worker's rank or, where the workers are threads of one process, the arrays of all ranks.
  std::span<const LocalArray> arrays;
  bool sees_all_arrays = false;
  Times& times;
};

/// Makes this worker's window slots ready for the next access.  Call it before a collective agreement, then run.
void prepare(transport::Transport& transport);

/// Collective over the transport: every worker runs the same plan.
/// errors  The first error of this worker's own store calls, after its part of the exchange is done, so that the others do
///         not hang; the arrays are undefined then.  Agree on it before anything is done with them.
void read(const Access& access);
void write(const Access& access);

}  // namespace plait::engine
