/// Carries out an access plan on one worker.
#pragma once

#include <memory>
#include <span>

#include "collective/stopwatch.hpp"
#include "copy/local_array.hpp"
#include "plan/access/access_plan.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait::access {

/// Everything that one worker's part of an access needs.
struct Access {
  const plan::AccessPlan& plan;
  store::Store& store;
  std::int64_t data_offset = 0;
  transport::Transport& transport;
  /// The one array of this worker's rank or, where the workers are threads of one process, the arrays of all ranks.
  std::span<const copy::LocalArray> arrays;
  bool sees_all_arrays = false;
  collective::Times& times;
};

/// One worker's part of a read or a write, ready to run.  Everything that this part needs is allocated when it is made,
/// so that a worker that cannot take part says so before anyone relies on it.
class Move {
 public:
  virtual ~Move() = default;
  /// Collective over the transport, except for direct accesses: every worker runs the same plan.
  /// errors  The first error of this worker's own store calls and copies, after its part of the exchange is done, so
  ///         that the others do not hang; the arrays are undefined then.  Agree on it before anything is done with
  ///         them.
  virtual void run() = 0;
};

/// Not collective.  What the access refers to must outlive the result.
std::unique_ptr<Move> make_read(const Access& access);
std::unique_ptr<Move> make_write(const Access& access);

}  // namespace plait::access
