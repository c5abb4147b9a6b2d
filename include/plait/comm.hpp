/// Communicators: the processes that take part in collective calls on files and redistributions.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace plait {

namespace core {
struct CommInternals;
}

/// One process alone, the processes of an MPI communicator (plait/mpi.hpp), or those of a job without MPI.  Copies are
/// the same Comm.  All collectives on one Comm, of all its files, are carried out in the order in which they were
/// called or started.
class Comm {
 public:
  /// This process alone, which holds the parts of all ranks of a layout and moves them with several threads.
  Comm() = default;

  /// The processes of this job: those that `plait run` has started, or a shell that gave each of them PLAIT_JOB (a
  /// name, the same for all), PLAIT_SIZE and PLAIT_RANK; all on one host.  Rank r of a layout is process r.  Where
  /// nothing of this is set, one rank, which works as a communicator of MPI of one process does.
  ///
  /// Collective: the first call waits for the other processes, `seconds` at most; later calls return the same Comm.
  /// They communicate through shared memory, 66 KiB for each rank at first, and sleep while they wait.  A process that
  /// ends is an error on those that wait for it, within a second; one that has come to its end tells them why.
  /// errors   kSystem: ETIMEDOUT names the ranks that have not come; one has ended before (EOWNERDEAD) or is there
  ///          twice (EADDRINUSE); no shared memory.  kArgument: the settings are wrong, or differ; the ranks run on several
  ///          hosts; an MPI launcher has started this process, so that plait/mpi.hpp has its communicator.
  /// threads  Any.
  static Comm world(double seconds = kPatience);
  static constexpr double kPatience = 60;

  bool alone() const { return state_ == nullptr; }
  int rank() const;
  int size() const;
  /// Waits until all ranks have come here.  Collective.
  /// cost    One reduction.
  /// errors  kSystem: a rank has ended, or left the program.
  void barrier() const;
  /// What each rank says, by their ranks.  Collective.
  /// cost    All texts go through rank 0: for small ones.
  /// errors  As barrier(); no memory.
  std::vector<std::string> allgather(const std::string& text) const;

 private:
  friend struct core::CommInternals;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace plait
