// Messages between nodes during accesses: how many are pending, and that a worker sends before it waits for messages.
#include "access/node_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "access_case.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "plan/access/planner.hpp"
#include "store/memory/memory_store.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

using access_case::Bytes;
using access_case::Case;
using plait::Distribution;
using plait::Extents;
using plait::Layout;
using plait::Order;
using plait::plan::AccessOptions;
using plait::plan::AccessPlan;
using plait::plan::Section;
using plait::plan::Strategy;
using plait::transport::Ticket;
using plait::transport::Transport;

/// Counts the pending messages of a worker, and fails if the worker waits for a message before it has sent one itself.
class ObservedTransport : public wrapped::SeveralNodes {
 public:
  using SeveralNodes::SeveralNodes;

  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) override {
    may_receive_ = true;
    return std::make_unique<CountedTicket>(SeveralNodes::send(to, bytes), sends, may_wait_for_sends_);
  }
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) override {
    return std::make_unique<CountedTicket>(SeveralNodes::receive(from, bytes), receives, may_receive_);
  }

  /// Allows a worker that has nothing to send to receive at once.
  void allow_receives() { may_receive_ = true; }

  /// The current number of pending messages, and its maximum.
  struct Count {
    int now = 0;
    int max = 0;
  };
  Count sends;
  Count receives;

 private:
  class CountedTicket : public Ticket {
   public:
    CountedTicket(std::unique_ptr<Ticket> inner, Count& count, const bool& may_complete)
        : inner_(std::move(inner)), count_(count), may_complete_(may_complete) {
      count_.max = std::max(count_.max, ++count_.now);
    }
    ~CountedTicket() override { --count_.now; }
    CountedTicket(const CountedTicket&) = delete;
    CountedTicket& operator=(const CountedTicket&) = delete;
    void complete() override {
      if (may_complete_) return inner_->complete();
      FAIL() << "waits for a message before it has sent its own";
    }
    bool test() override { return may_complete_ && inner_->test(); }

   private:
    std::unique_ptr<Ticket> inner_;
    Count& count_;
    const bool& may_complete_;
  };

  bool may_receive_ = false;
  const bool may_wait_for_sends_ = true;
};

/// Performs an access on two nodes of two workers. Returns the maximum number of messages in one direction that are
/// pending at any worker.
int max_pending_messages(const AccessOptions& options, bool write) {
  constexpr int kWorkers = 4;
  // Each share of the file consists of whole columns and contains elements of both nodes.
  const Layout layout({16, 24}, {Distribution::blocked(), Distribution::blocked()}, {2, 2});
  const Case access{{16, 24}, Order::kFortran, {}, layout, 4096, 0};
  const Bytes source = access_case::pattern(access_case::store_bytes(access));
  plait::store::memory::MemoryStore store(access_case::store_bytes(access));
  if (!write) store.bytes() = source;
  const std::vector<Bytes> expected = access_case::make_locals(access, source);
  std::vector<Bytes> locals = expected;
  if (!write)
    for (Bytes& local : locals) std::ranges::fill(local, std::byte{7});
  const auto arrays = access_case::arrays_over(access.layout, locals, access.element_bytes);
  std::array<int, kWorkers> max{};
  plait::transport::thread::run_team(kWorkers, [&](Transport& team) {
    ObservedTransport transport(team, 2);
    // In a write, these two workers own only elements in shares of their own node, and so send no message.
    if (write && (team.rank() == 0 || team.rank() == 3)) transport.allow_receives();
    plait::collective::prepare(transport);
    const AccessPlan plan =
        plan_access(Section(access.file_shape, access.file_order, access.region), access.layout,
                    {access.element_bytes, access.offset, kWorkers, true, write, transport.nodes()}, options);
    plait::collective::Times times;
    const auto local_array = std::span(arrays).subspan(static_cast<std::size_t>(team.rank()), 1);
    const plait::access::Access parts{plan, store, access.offset, transport, local_array, false, times};
    const auto operation = write ? plait::access::make_write(parts) : plait::access::make_read(parts);
    plait::collective::agree(transport, "the same", nullptr);
    plait::collective::agree(transport, plait::collective::caught([&] { operation->run(); }));
    EXPECT_LE(std::max(transport.sends.max, transport.receives.max), plan.staging().in_flight());
    EXPECT_EQ(transport.sends.now + transport.receives.now, 0);
    max[static_cast<std::size_t>(team.rank())] = std::max(transport.sends.max, transport.receives.max);
  });
  if (write) {
    EXPECT_TRUE(store.bytes() == source);
  } else {
    EXPECT_TRUE(locals == expected);
  }
  return std::ranges::max(max);
}

TEST(NodeExchange, BoundsPendingMessagesAndSendsBeforeItWaits) {
  for (const bool write : {false, true}) {
    EXPECT_EQ(max_pending_messages({Strategy::kTwoPhase, 0, 0}, write), 2);
    EXPECT_EQ(max_pending_messages({Strategy::kTwoPhase, 6 << 16, 0}, write), 2);
    EXPECT_EQ(max_pending_messages({Strategy::kTwoPhase, 4 * 5 * 4096, 0}, write), 1);
    AccessOptions in_each_node{Strategy::kTwoPhase, 0, 0};
    in_each_node.each_node = true;
    if (!write) {
      EXPECT_EQ(max_pending_messages(in_each_node, write), 0);
    }
  }
}

}  // namespace
