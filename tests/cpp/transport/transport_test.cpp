// Messages, agreements and windows of all transports on one host: teams of threads, and jobs of processes.
#include "transport/transport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "collective/agree.hpp"
#include "job_case.hpp"
#include "transport/counter.hpp"
#include "transport/thread/team.hpp"

namespace {

using plait::collective::agree;
using plait::transport::Ticket;
using plait::transport::Transport;
using plait::transport::thread::make_alone;
using plait::transport::thread::run_team;
using Bytes = std::vector<std::byte>;

/// Returns the content of message `number` from one rank to another.
Bytes make_message(int from, int to, int number, std::size_t bytes) {
  Bytes result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = static_cast<std::byte>(from * 61 + to * 17 + number * 7 + int(i));
  return result;
}

/// Runs a function on each of several workers.
using RunOnWorkers = void (*)(int workers, const std::function<void(Transport&)>& body);

/// Each kind of transport whose workers share one host.
class TransportTest : public testing::TestWithParam<RunOnWorkers> {
 protected:
  static void run(int workers, const std::function<void(Transport&)>& body) { GetParam()(workers, body); }
};
INSTANTIATE_TEST_SUITE_P(Kinds, TransportTest, testing::Values(RunOnWorkers{run_team}, RunOnWorkers{job_case::run_job}),
                         [](const auto& kind) { return kind.index == 0 ? "Threads" : "Processes"; });

TEST_P(TransportTest, WorkersKnowTheirPositions) {
  for (int workers = 1; workers <= 5; ++workers) {
    std::vector<int> calls(static_cast<std::size_t>(workers), 0);
    run(workers, [&](Transport& transport) {
      EXPECT_EQ(transport.size(), workers);
      EXPECT_EQ(transport.node_size(), workers);
      EXPECT_FALSE(transport.nodes_apart());
      EXPECT_EQ(transport.worker_on_node(transport.node_rank()), transport.rank());
      EXPECT_EQ(transport.rank_on_node(transport.rank()), transport.node_rank());
      ++calls[static_cast<std::size_t>(transport.rank())];
    });
    EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(workers), 1));
  }
}

TEST_P(TransportTest, MessagesOfAPairArriveInOrder) {
  constexpr int kWorkers = 4;
  constexpr int kMessages = 5;
  const std::array<std::size_t, kMessages> sizes{0, 1, 65536, 700000, 3};
  run(kWorkers, [&](Transport& transport) {
    const int rank = transport.rank();
    std::vector<Bytes> outgoing;
    std::vector<std::unique_ptr<Ticket>> sends;
    for (int to = 0; to < kWorkers; ++to)
      for (int n = 0; n < kMessages; ++n)
        outgoing.push_back(make_message(rank, to, n, sizes[static_cast<std::size_t>(n)]));
    for (std::size_t i = 0; i < outgoing.size(); ++i)
      sends.push_back(transport.send(static_cast<int>(i) / kMessages, outgoing[i]));
    for (int from = kWorkers - 1; from >= 0; --from)
      for (int n = 0; n < kMessages; ++n) {
        Bytes incoming(sizes[static_cast<std::size_t>(n)]);
        transport.receive(from, incoming)->complete();
        EXPECT_TRUE(incoming == make_message(from, rank, n, incoming.size()))
            << from << " -> " << rank << ", message " << n;
      }
    for (const auto& send : sends) send->complete();
    agree(transport, nullptr);  // a rank may not leave before the agreement that ends an exchange of messages
  });
}

TEST_P(TransportTest, TicketsMayBeCompletedInAnyOrder) {
  run(2, [&](Transport& transport) {
    const int other = 1 - transport.rank();
    std::vector<Bytes> outgoing;
    std::vector<Bytes> incoming(3, Bytes(10));
    std::vector<std::unique_ptr<Ticket>> sends;
    std::vector<std::unique_ptr<Ticket>> receives;
    for (int n = 0; n < 3; ++n) outgoing.push_back(make_message(transport.rank(), other, n, 10));
    for (int n = 0; n < 3; ++n) receives.push_back(transport.receive(other, incoming[static_cast<std::size_t>(n)]));
    for (int n = 0; n < 3; ++n) sends.push_back(transport.send(other, outgoing[static_cast<std::size_t>(n)]));
    for (const std::size_t n : {std::size_t{2}, std::size_t{0}, std::size_t{1}}) {
      receives[n]->complete();
      EXPECT_TRUE(incoming[n] == make_message(other, transport.rank(), static_cast<int>(n), 10)) << "message " << n;
    }
    for (std::size_t n = 3; n-- > 0;) sends[n]->complete();
    agree(transport, nullptr);
  });
}

TEST_P(TransportTest, TicketsReportIfTheirMessagesHaveArrived) {
  run(2, [&](Transport& transport) {
    const int other = 1 - transport.rank();
    constexpr std::size_t kLong = 3'000'000;
    const Bytes small = make_message(transport.rank(), other, 0, 10);
    const Bytes large = make_message(transport.rank(), other, 1, kLong);
    Bytes first(10);
    Bytes second(kLong);
    std::vector<std::unique_ptr<Ticket>> tickets;
    tickets.push_back(transport.receive(other, first));
    tickets.push_back(transport.receive(other, second));
    for (const auto& ticket : tickets) EXPECT_FALSE(ticket->test());
    agree(transport, nullptr);  // no rank sends before this point
    tickets.push_back(transport.send(other, small));
    tickets.push_back(transport.send(other, large));
    std::vector<bool> arrived(tickets.size(), false);
    transport.await([&] {
      for (std::size_t i = 0; i < tickets.size(); ++i) arrived[i] = arrived[i] || tickets[i]->test();
      return std::ranges::count(arrived, true) == std::ssize(arrived);
    });
    EXPECT_TRUE(first == make_message(other, transport.rank(), 0, 10));
    EXPECT_TRUE(second == make_message(other, transport.rank(), 1, kLong));
    agree(transport, nullptr);
  });
}

TEST_P(TransportTest, ReducesToTheMinimum) {
  for (int workers = 1; workers <= 6; ++workers)
    run(workers, [&](Transport& transport) {
      for (int round = 0; round < 50; ++round) {
        std::array<std::int64_t, Transport::kMaxValues> values{};
        for (int i = 0; i < Transport::kMaxValues; ++i)
          values[static_cast<std::size_t>(i)] = (transport.rank() + i + round) % workers * 10 + round;
        transport.reduce_min(values);
        for (const std::int64_t value : values) ASSERT_EQ(value, round);
      }
      std::array<std::int64_t, 1> extreme{transport.rank() == workers / 2 ? std::numeric_limits<std::int64_t>::min()
                                                                          : 0};
      transport.reduce_min(extreme);
      EXPECT_EQ(extreme[0], std::numeric_limits<std::int64_t>::min());
    });
}

TEST_P(TransportTest, BroadcastsFromEveryRoot) {
  for (int workers = 1; workers <= 5; ++workers)
    run(workers, [&](Transport& transport) {
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{Transport::kMaxBroadcast}})
        for (int root = 0; root < workers; ++root) {
          Bytes data = transport.rank() == root ? make_message(root, 0, 0, bytes) : Bytes(bytes);
          transport.broadcast(data, root);
          ASSERT_TRUE(data == make_message(root, 0, 0, bytes));
        }
    });
}

TEST_P(TransportTest, WindowsAreSharedAndGrow) {
  constexpr int kWorkers = 4;
  run(kWorkers, [&](Transport& transport) {
    for (const std::int64_t bytes : {1, 64, 65, 1000, 100, 50000}) {
      plait::transport::SharedWindows& windows = transport.windows(bytes);
      ASSERT_GE(windows.bytes(), bytes);
      std::byte* part = windows.part(transport.node_rank());
      std::memset(part, transport.rank() + 1, static_cast<std::size_t>(bytes));
      agree(transport, nullptr);
      for (int peer = 0; peer < kWorkers; ++peer) {
        ASSERT_EQ(windows.part(peer)[0], static_cast<std::byte>(transport.worker_on_node(peer) + 1));
        ASSERT_EQ(windows.part(peer)[bytes - 1], static_cast<std::byte>(transport.worker_on_node(peer) + 1));
      }
      agree(transport, nullptr);
    }
  });
}

TEST_P(TransportTest, MessagesMayWaitForEachOtherInACircle) {
  constexpr int kWorkers = 3;
  constexpr std::size_t kBytes = 300'000;
  run(kWorkers, [&](Transport& transport) {
    const int rank = transport.rank();
    const int next = (rank + 1) % kWorkers;
    const int previous = (rank + kWorkers - 1) % kWorkers;
    for (int round = 0; round < 20; ++round) {
      const Bytes outgoing = make_message(rank, next, round, kBytes);
      Bytes incoming(kBytes);
      const auto sent = transport.send(next, outgoing);
      const auto received = transport.receive(previous, incoming);
      // Some ranks complete their send before their receive.
      (round + rank) % 2 == 0 ? sent->complete() : received->complete();
      (round + rank) % 2 == 0 ? received->complete() : sent->complete();
      ASSERT_TRUE(incoming == make_message(previous, rank, round, kBytes));
    }
  });
}

TEST_P(TransportTest, CountersAreSharedByAllWorkers) {
  constexpr int kWorkers = 4;
  constexpr int kTimes = 1000;
  run(kWorkers, [&](Transport& transport) {
    const auto sum = transport.counter();
    const auto value = transport.counter();
    for (int i = 0; i < kTimes; ++i) sum->fetch_add(1);
    if (transport.rank() == 2) value->store(-5);
    agree(transport, nullptr);
    EXPECT_EQ(sum->load(), kWorkers * kTimes);
    EXPECT_EQ(value->load(), -5);
    agree(transport, nullptr);
    // Only one rank finds the value -5 and replaces it; the others get the rank that has replaced it.
    const std::int64_t previous = value->compare_swap(-5, transport.rank());
    agree(transport, nullptr);
    EXPECT_TRUE(previous == -5 ? value->load() == transport.rank() : previous == value->load());
  });
}

TEST_P(TransportTest, NotesOfPeersAreReadBetweenAgreements) {
  run(3, [&](Transport& transport) {
    transport.note(transport.node_rank())[7] = static_cast<std::byte>(transport.rank() + 40);
    agree(transport, nullptr);
    for (int peer = 0; peer < 3; ++peer) EXPECT_EQ(transport.note(peer)[7], static_cast<std::byte>(peer + 40));
    agree(transport, nullptr);
  });
}

TEST(Transport, ATeamThrowsTheFirstWorkersError) {
  std::vector<int> ended(4, 0);
  try {
    run_team(4, [&](Transport& transport) {
      ended[static_cast<std::size_t>(transport.rank())] = 1;
      if (transport.rank() >= 2) throw std::runtime_error("worker " + std::to_string(transport.rank()));
    });
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "worker 2");
  }
  EXPECT_EQ(ended, std::vector<int>(4, 1));
}

TEST(Transport, ASingleWorkerCompletesEverythingAtOnce) {
  const auto transport = make_alone();
  EXPECT_EQ(transport->size(), 1);
  std::array<std::int64_t, 2> values{5, -7};
  transport->reduce_min(values);
  EXPECT_EQ(values, (std::array<std::int64_t, 2>{5, -7}));
  Bytes word = make_message(0, 0, 0, 9);
  transport->broadcast(word, 0);
  EXPECT_TRUE(word == make_message(0, 0, 0, 9));
  const auto send = transport->send(0, word);
  Bytes received(9);
  transport->receive(0, received)->complete();
  send->complete();
  EXPECT_TRUE(received == word);
  EXPECT_NE(transport->windows(1).part(0), nullptr);
}

}  // namespace
