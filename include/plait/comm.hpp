/// Communicators: the processes that take part in collective calls on files and redistributions.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace plait {

namespace core {
struct CommInternals;
}

/// One process alone, the processes of an MPI communicator (plait/mpi.hpp), or those of a job without MPI. Copies are
/// the same Comm.  All collectives on one Comm and on all its files are carried out in the order in which they were
/// called or started.
class Comm {
 public:
  /// This process alone, which holds the parts of all ranks of a layout and moves them with several threads.
  Comm() = default;

  /// Returns the processes of this job: those that `plait run` has started, or a shell that set PLAIT_JOB (a name,
  /// equal for all), PLAIT_SIZE and PLAIT_RANK for each of them; all on one host.  Rank r of a layout is process r.  If
  /// none of these variables is set, there is one rank, which works like an MPI communicator of one process.
  ///
  /// Collective: the first call waits for the other processes, at most `seconds`; later calls return the same Comm.
  /// The processes communicate through shared memory, 66 KiB for each rank at first, and sleep while they wait.  If a
  /// process ends, waiting processes get an error within a second.  If it reached its end with an error, the others get
  /// its message.
  /// errors  kSystem: ETIMEDOUT names the ranks that have not called world(); a rank has ended before (EOWNERDEAD) or
  ///         exists twice (EADDRINUSE); no shared memory. kArgument: the settings are wrong, or differ; the ranks run
  ///         on several hosts; an MPI launcher has started this process, so that plait/mpi.hpp has its communicator.
  /// threads  Any.
  static Comm world(double seconds = kDefaultTimeout);
  static constexpr double kDefaultTimeout = 60;

  bool alone() const { return state_ == nullptr; }
  int rank() const;
  int size() const;
  /// Waits until all ranks have called barrier().  Collective.
  /// cost    One reduction.
  /// errors  kSystem: a rank has ended, or left the program.
  void barrier() const;
  /// Returns the texts of all ranks, by rank.  Collective.
  /// cost    All texts go through rank 0, so they should be small.
  /// errors  As barrier(); out of memory.
  std::vector<std::string> allgather(const std::string& text) const;

 private:
  friend struct core::CommInternals;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace plait
