#include "transport/mpi/liveness/notices.hpp"

#include <sched.h>

#include <chrono>
#include <thread>
#include <utility>

#include "transport/mpi/check.hpp"
#include "transport/mpi/tags.hpp"

namespace plait::transport::mpi {

namespace {

using Clock = std::chrono::steady_clock;

/// Waits shorter than this cost nothing more than they do in MPI ...
constexpr std::chrono::milliseconds kBusy{250};
/// ... longer ones look so often for those that have left, and after a second for those that were lost as well.
constexpr std::chrono::milliseconds kNap{1};
constexpr std::chrono::microseconds kMessageNap{50};
constexpr std::chrono::seconds kPatience{1};
/// So many nodes tell each other directly; more tell some, who tell others.
constexpr int kMostTold = 64;

}  // namespace

Notices::Notices(MPI_Comm everyone, std::int64_t cookie, node::Departure& board, const node::Progress& progress,
                 Losses& losses, std::vector<int> leaders, int index)
    : everyone_(everyone),
      cookie_(cookie),
      board_(board),
      progress_(progress),
      losses_(losses),
      leaders_(std::move(leaders)),
      index_(index) {}

void Notices::take() {
  while (true) {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    if (MPI_Improbe(MPI_ANY_SOURCE, kNoticeTag, everyone_, &there, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        there == 0)
      return;
    Wire wire;
    if (MPI_Mrecv(&wire, sizeof wire, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS) continue;
    if (wire.cookie == cookie_) board_.record(wire.departed);  // else it is of one whose number has come back
  }
}

void Notices::send_on() {
  node::Departed departed;
  if (sent_on_ || !board_.known(departed)) return;
  sent_on_ = true;
  // Kept for ever: MPI may still send it when nobody waits for that any more.
  const auto* const wire = new Wire{cookie_, departed};
  const auto count = static_cast<int>(leaders_.size());
  const auto tell = [&](int to) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int leader = leaders_[static_cast<std::size_t>(to)];
    if (MPI_Isend(wire, sizeof *wire, MPI_BYTE, leader, kNoticeTag, everyone_, &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  };
  if (count <= kMostTold) {
    for (int to = 0; to < count; ++to)
      if (to != index_) tell(to);
    return;
  }
  for (int bit = 1; bit < count; bit *= 2)
    if ((index_ ^ bit) < count) tell(index_ ^ bit);
}

void Notices::look() {
  if (leaders_.empty()) return;
  take();
  send_on();
}

void Notices::wait(std::span<MPI_Request> requests, const char* what) { wait(requests, what, kNap); }

void Notices::wait_for_messages(std::span<MPI_Request> requests, const char* what) {
  wait(requests, what, kMessageNap);
}

void Notices::wait(std::span<MPI_Request> requests, const char* what, std::chrono::microseconds nap) {
  const auto begin = Clock::now();
  while (true) {
    int there = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &there, MPI_STATUSES_IGNORE), what);
    if (there != 0) return;
    const auto waited = Clock::now() - begin;
    if (waited < kBusy && !given_up_) {
      ::sched_yield();
      continue;
    }
    try {
      look();
      board_.check(progress_);
      if (waited > kPatience) losses_.check_waiting();
    } catch (...) {
      given_up_ = true;
      throw;
    }
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace plait::transport::mpi
