// Notices to other nodes that a process has left, and waits that end when such a notice arrives.
//
// Problem: the processes of a node see each other's departures in shared memory. Processes of other nodes wait in MPI
// for messages that will never come, and MPI offers no way to detect that.
//
// Idea: the first process of each node exchanges notices: poll() receives notices of other nodes and records them on
// the board of its node, and sends the departure with the fewest calls on the board to the other nodes. It runs in
// every wait that takes longer than 250 ms. After a departure was sent, only one with fewer calls is sent.
//
// Up to 64 nodes send directly to all others. More nodes form a hypercube: node i sends to the nodes i xor 1, i xor 2,
// i xor 4, ... Example with 100 nodes: node 5 sends to 4, 7, 1, 13, 21, 37 and 69, and each of these sends the notice
// on.

#include "transport/mpi/liveness/notices.hpp"

#include <sched.h>

#include <chrono>
#include <thread>
#include <utility>

#include "base/process.hpp"
#include "base/wait/interruption.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"
#include "transport/mpi/tags.hpp"

namespace plait::transport::mpi {

namespace {

using Clock = std::chrono::steady_clock;

/// Time since the last progress during which a wait only yields, so that it reacts as fast as a wait in MPI.
constexpr std::chrono::milliseconds kYieldTime{250};
/// In longer waits: time to sleep between tests, and interval of checks for processes that have left or were lost.
constexpr std::chrono::milliseconds kNap{1};
/// Time to sleep between tests of messages, which make progress only in the tests.
constexpr std::chrono::microseconds kMessageNap{50};
/// Number of probes in one receive_notices().  Each call of MPI processes only a few packets, and a notice arrives
/// after the packets of earlier messages.  A process that waits for its node calls MPI only here, four times a second.
constexpr int kProbes = 256;
/// Maximum number of nodes that notify each other directly; larger jobs use a hypercube.
constexpr int kMaxDirectNotices = 64;

}  // namespace

Notices::Notices(MPI_Comm everyone, std::int64_t cookie, std::span<shared_memory::Departure> board, Liveness& liveness,
                 FirstOfNodes leaders)
    : everyone_(everyone), cookie_(cookie), board_(board), liveness_(liveness), leaders_(std::move(leaders)) {}

Notices::~Notices() {
  // MPI may still be sending the notices, because nothing waits for their requests. So their memory must stay.
  if (sent_ > 0) base::leak(wires_.release());
}

void Notices::receive_notices() {
  for (int probes = 0; probes < kProbes; ++probes) {
    int arrived = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    if (call(MPI_Improbe, MPI_ANY_SOURCE, kNoticeTag, everyone_, &arrived, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
    if (arrived == 0) continue;
    Wire wire;
    if (call(MPI_Mrecv, &wire, sizeof wire, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS) continue;
    // With another cookie, the notice is of an earlier communicator whose number MPI has reused.
    if (wire.cookie == cookie_) board_.front().record(wire.departed);
  }
}

void Notices::forward_fewest() {
  shared_memory::DepartureRecord departed;
  if (!shared_memory::find_fewest(board_, departed)) return;
  std::int64_t sent_calls = sent_calls_;
  do {
    if (departed.calls >= sent_calls) return;
  } while (!sent_calls_.compare_exchange_weak(sent_calls, departed.calls));
  const std::size_t index = sent_++;
  if (index >= kWires) return;
  (*wires_)[index] = {cookie_, departed};
  send((*wires_)[index]);
}

void Notices::send(Wire& wire) {
  const auto count = static_cast<int>(leaders_.ranks.size());
  const auto notify = [&](int to) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int leader = leaders_.ranks[static_cast<std::size_t>(to)];
    if (call(MPI_Isend, &wire, sizeof wire, MPI_BYTE, leader, kNoticeTag, everyone_, &request) == MPI_SUCCESS)
      call(MPI_Request_free, &request);
  };
  if (count <= kMaxDirectNotices) {
    for (int to = 0; to < count; ++to)
      if (to != leaders_.index) notify(to);
    return;
  }
  for (int bit = 1; bit < count; bit *= 2)
    if ((leaders_.index ^ bit) < count) notify(leaders_.index ^ bit);
}

void Notices::poll() {
  if (leaders_.ranks.empty()) return;
  receive_notices();
  forward_fewest();
}

void Notices::wait(std::span<MPI_Request> requests, const char* what) {
  const auto test = [&] {
    int complete = 0;
    check(call(MPI_Testall, static_cast<int>(requests.size()), requests.data(), &complete, MPI_STATUSES_IGNORE), what);
    return complete != 0 ? TestResult::kEnd : TestResult::kNothing;
  };
  wait(test, kNap);
}

void Notices::wait_for_messages(std::span<MPI_Request> requests, const char* what) {
  std::size_t ended = 0;
  const auto test = [&] {
    auto result = TestResult::kNothing;
    for (; ended < requests.size(); ++ended, result = TestResult::kProgress) {
      int complete = 0;
      check(call(MPI_Test, &requests[ended], &complete, MPI_STATUS_IGNORE), what);
      if (complete == 0) return result;
    }
    return TestResult::kEnd;
  };
  wait(test, kMessageNap);
}

void Notices::wait_until(base::FunctionRef<bool()> done) {
  const auto test = [&] { return done() ? TestResult::kEnd : TestResult::kNothing; };
  wait(test, kMessageNap);
}

void Notices::wait(base::FunctionRef<TestResult()> test, std::chrono::microseconds nap) {
  try {
    auto last_progress = Clock::now();
    auto last_check = last_progress;
    base::InterruptionTimer interruption;
    while (true) {
      const TestResult result = test();
      if (result == TestResult::kEnd) return;
      const auto now = Clock::now();
      if (result == TestResult::kProgress) last_progress = now;
      if (interruption.is_due(now)) liveness_.check_interruption();
      if (now - last_progress < kYieldTime && !has_abandoned_) {
        ::sched_yield();
        continue;
      }
      if (now - last_check >= kNap) {
        liveness_.check();
        last_check = now;
      }
      std::this_thread::sleep_for(nap);
    }
  } catch (...) {
    has_abandoned_ = true;
    throw;
  }
}

}  // namespace plait::transport::mpi
