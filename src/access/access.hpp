/// Carries out an access plan on one worker: a rank, or a thread of a process that is the only rank.
#pragma once

#include <memory>
#include <span>

#include "collective/stopwatch.hpp"
#include "copy/local_array.hpp"
#include "plan/access/access_plan.hpp"
#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait::access {

/// The arguments of one worker's part of an access.
struct Access {
  const plan::AccessPlan& plan;
  store::Store& store;
  std::int64_t data_offset = 0;
  transport::Transport& transport;
  /// The array of this worker's rank.  If the workers are threads of one process, the arrays of all ranks.
  std::span<const copy::LocalArray> arrays;
  bool sees_all_arrays = false;  ///< true if the workers are threads of one process
  collective::Times& times;
};

/// One worker's part of a read or a write, ready to run.  The constructor allocates everything that the part needs, so
/// that a worker that runs out of memory reports it before other workers depend on its part.
class Move {
 public:
  virtual ~Move() = default;
  /// Runs this worker's part.  Collective over the transport, except for direct accesses: every worker runs the same
  /// plan.
  /// errors  The first error of this worker's own store calls and copies, thrown after its part of the exchange is
  ///         complete, so that the other workers do not wait forever.  The arrays are undefined then.  The ranks must
  ///         agree on the error before they use the arrays.
  virtual void run() = 0;
};

/// Make a worker's part of a read or a write.  Not collective.  The objects that `access` refers to must outlive the
/// result.
std::unique_ptr<Move> make_read(const Access& access);
std::unique_ptr<Move> make_write(const Access& access);

}  // namespace plait::access
