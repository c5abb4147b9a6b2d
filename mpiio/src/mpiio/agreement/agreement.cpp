// Finds the smallest numbers of all ranks.
//
// Problem: the ranks of a collective access must agree whether Plait or the MPI carries it out. A reduction would make
// each rank wait for all others. But one rank that needs the MPI decides for all, so it knows the result at once and
// only has to send it to the others.
//
// Idea: each rank of a few sends its numbers to all others without waiting, so that a rank which knows the outcome goes
// on at once. Many ranks would send too many messages; they exchange what they know in rounds: in round k rank r sends
// to rank r + 2^k and receives from rank r - 2^k, and after log2 of the number of ranks all know everything. Smallest
// numbers may be counted twice, so that any number of ranks will do. Ranks that share a board of their host send no
// messages.
//
// Example: of 3 ranks in rounds rank 0 sends to 1 and receives from 2, which has sent its own; it then sends the
// smaller numbers of both to 2, and receives those of 1 and 0.

#include "mpiio/agreement/agreement.hpp"

#include <sched.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace plait::mpiio {

namespace {

constexpr int kFewRanks = 8;
constexpr int kNumbers = static_cast<int>(std::tuple_size_v<Agreement::Numbers>);

/// Lets a rank that waits leave the core to the others.
void pause_core() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

}  // namespace

Agreement::Agreement(MPI_Comm comm, int tag, std::shared_ptr<AgreementBoard> board)
    : comm_(comm), tag_(tag), board_(std::move(board)) {
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &ranks_);
}

Agreement::~Agreement() { finish(); }

void Agreement::start(const Numbers& numbers) {
  finish();
  has_failed_ = false;
  own_ = numbers;
  smallest_ = numbers;
  if (ranks_ == 1) return;
  if (board_) {
    board_->post(tag_, ++call_, own_);
    has_posted_ = true;
  } else if (ranks_ <= kFewRanks) {
    exchange_all();
  } else {
    exchange_in_rounds();
  }
}

std::optional<Agreement::Numbers> Agreement::finish() {
  if (!requests_.empty()) {
    const int number = static_cast<int>(requests_.size());
    if (PMPI_Waitall(number, requests_.data(), MPI_STATUSES_IGNORE) != MPI_SUCCESS) has_failed_ = true;
    for (const Numbers& numbers : received_) add(numbers);
    requests_.clear();
  }
  if (std::exchange(has_posted_, false)) wait_for_board();
  if (has_failed_) return std::nullopt;
  return smallest_;
}

void Agreement::wait_for_board() {
  constexpr int kSpins = 200;  // about as long as it takes to wake a process
  for (int i = 1; i < ranks_; ++i) {
    const int rank = (rank_ + i) % ranks_;
    const std::int64_t* numbers = board_->find(rank, tag_, call_);
    for (int spins = 0; numbers == nullptr; numbers = board_->find(rank, tag_, call_)) {
      if (++spins < kSpins) {
        pause_core();
        continue;
      }
      // The other rank may wait for a message of this one, which the MPI sends in any of its calls.
      int has_message = 0;
      PMPI_Iprobe(MPI_ANY_SOURCE, tag_, comm_, &has_message, MPI_STATUS_IGNORE);
      ::sched_yield();
    }
    for (std::size_t k = 0; k < smallest_.size(); ++k) smallest_[k] = std::min(smallest_[k], numbers[k]);
  }
}

void Agreement::exchange_all() {
  received_.resize(static_cast<std::size_t>(ranks_ - 1));
  for (int i = 1; i < ranks_; ++i) {
    MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
    Numbers& numbers = received_[static_cast<std::size_t>(i - 1)];
    numbers = own_;
    const int source = (rank_ - i + ranks_) % ranks_;
    if (PMPI_Irecv(numbers.data(), kNumbers, MPI_INT64_T, source, tag_, comm_, &request) != MPI_SUCCESS)
      has_failed_ = true;
  }
  for (int i = 1; i < ranks_; ++i) {
    MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
    const int target = (rank_ + i) % ranks_;
    if (PMPI_Isend(own_.data(), kNumbers, MPI_INT64_T, target, tag_, comm_, &request) != MPI_SUCCESS)
      has_failed_ = true;
  }
}

void Agreement::exchange_in_rounds() {
  for (int distance = 1; distance < ranks_; distance *= 2) {
    const Numbers sent = smallest_;
    Numbers numbers = sent;
    const int target = (rank_ + distance) % ranks_;
    const int source = (rank_ - distance + ranks_) % ranks_;
    if (PMPI_Sendrecv(sent.data(), kNumbers, MPI_INT64_T, target, tag_, numbers.data(), kNumbers, MPI_INT64_T, source,
                      tag_, comm_, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      has_failed_ = true;
    add(numbers);
  }
}

void Agreement::add(const Numbers& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) smallest_[i] = std::min(smallest_[i], numbers[i]);
}

std::shared_ptr<AgreementBoard> make_board(MPI_Comm comm, int tag) {
  constexpr std::int64_t kNoNumber = std::numeric_limits<std::int64_t>::max();
  Agreement agreement(comm, tag);
  const int rank = agreement.rank();
  const int ranks = agreement.ranks();
  if (ranks == 1 || ranks > AgreementBoard::kMaxRanks) return nullptr;
  BoardLocation location{.process = kNoNumber, .descriptor = kNoNumber, .key = kNoNumber};
  std::shared_ptr<AgreementBoard> board;
  if (rank == 0) board = std::make_shared<AgreementBoard>(ranks, location);
  agreement.start({location.process, location.descriptor, location.key});
  const std::optional<Agreement::Numbers> found = agreement.finish();
  if (rank != 0) {
    if (found)
      location = {.process = (*found)[0], .descriptor = (*found)[1], .key = (*found)[2]};
    else
      location = {};
    board = std::make_shared<AgreementBoard>(rank, ranks, location);
  }
  agreement.start({board->is_usable() ? 1 : 0});
  const std::optional<Agreement::Numbers> usable = agreement.finish();
  board->close_location();
  return usable && (*usable)[0] != 0 ? board : nullptr;
}

}  // namespace plait::mpiio
