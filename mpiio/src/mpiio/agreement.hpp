/// Lets the ranks of a file agree on numbers.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace plait::mpiio {

/// Finds the smallest of each of several numbers over all ranks of a communicator. Communicators may be shared by files
/// whose tags differ, also in programs with several threads.
class Agreement {
 public:
  using Numbers = std::array<std::int64_t, 17>;

  Agreement(MPI_Comm comm, int tag);
  /// Waits for the messages of an agreement that this rank has not finished.
  ~Agreement();
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Sends the numbers of this rank. Collective. Waits for the messages of an agreement that was not finished.
  void start(const Numbers& numbers);
  /// Waits for the numbers of the other ranks, and returns the smallest ones; nothing if the MPI fails. A rank that
  /// knows what it does in any case need not call it.
  std::optional<Numbers> finish();

 private:
  void exchange_all();
  void exchange_in_rounds();
  void add(const Numbers& numbers);

  MPI_Comm comm_;
  int tag_;
  int rank_ = 0;
  int ranks_ = 1;
  bool has_failed_ = false;
  Numbers own_{};
  Numbers smallest_{};
  std::vector<Numbers> received_;      ///< of an agreement that is not finished
  std::vector<MPI_Request> requests_;  ///< of receives, and then of sends
};

}  // namespace plait::mpiio
