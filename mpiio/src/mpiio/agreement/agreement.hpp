/// Lets the ranks of a file agree on numbers.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpiio/agreement/agreement_board.hpp"

namespace plait::mpiio {

/// Finds the smallest of each of several numbers over all ranks of a communicator. Communicators may be shared by files
/// whose tags differ, also in programs with several threads.
class Agreement {
 public:
  using Numbers = std::array<std::int64_t, AgreementBoard::kNumbers>;

  /// board  of the communicator; nullptr if there is none
  Agreement(MPI_Comm comm, int tag, std::shared_ptr<AgreementBoard> board = nullptr);
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
  void wait_for_board();
  void exchange_all();
  void exchange_in_rounds();
  void add(const Numbers& numbers);

  MPI_Comm comm_;
  int tag_;
  std::shared_ptr<AgreementBoard> board_;  ///< nullptr if the ranks send messages
  std::uint32_t call_ = 0;                 ///< number of the last agreement on the board
  int rank_ = 0;
  int ranks_ = 1;
  bool has_failed_ = false;
  bool has_posted_ = false;  ///< on the board, in an agreement that is not finished
  Numbers own_{};
  Numbers smallest_{};
  std::vector<Numbers> received_;      ///< of an agreement that is not finished
  std::vector<MPI_Request> requests_;  ///< of receives, and then of sends
};

/// Makes a board for the file with this tag and the next ones of a communicator. Returns nullptr, on all ranks alike,
/// if there are many ranks or they have no memory in common: on several hosts, for instance. Collective among calls
/// with this tag.
/// comm  returns errors
std::shared_ptr<AgreementBoard> make_board(MPI_Comm comm, int tag);

}  // namespace plait::mpiio
