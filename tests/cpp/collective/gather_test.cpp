// Gathering one text from each rank, also if a rank leaves while messages are pending.
#include "collective/gather.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "oracle.hpp"
#include "plait/error.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using plait::collective::gather;
using plait::collective::gather_to_all;
using plait::transport::Ticket;
using plait::transport::Transport;
using plait::transport::thread::run_team;

constexpr std::size_t kTextBytes = std::size_t{1} << 20;

TEST(GatheredTexts, ReachTheFirstRankUnchanged) {
  run_team(3, [](Transport& transport) {
    const auto make_text = [](int rank) { return std::string(static_cast<std::size_t>(rank) * 3000, 'x'); };
    const std::vector<std::string> all = gather(transport, [&] { return make_text(transport.rank()); });
    ASSERT_EQ(all.size(), transport.rank() == 0 ? 3U : 0U);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], make_text(static_cast<int>(i)));
  });
}

TEST(GatheredTexts, ReachAllRanks) {
  run_team(3, [](Transport& transport) {
    const auto make_text = [](int rank) { return std::string(static_cast<std::size_t>(rank) * 3000, '\n'); };
    const std::vector<std::string> all = gather_to_all(transport, [&] { return make_text(transport.rank()); });
    EXPECT_EQ(all, (std::vector{make_text(0), make_text(1), make_text(2)}));
  });
}

/// Messages that never arrive because a rank has left: waits for them fail, but MPI may still access their memory.
class AbandoningTransport : public wrapped::WrappedTransport {
 public:
  using WrappedTransport::WrappedTransport;
  std::unique_ptr<Ticket> send(int, std::span<const std::byte> bytes) override {
    return abandon({const_cast<std::byte*>(bytes.data()), bytes.size()});
  }
  std::unique_ptr<Ticket> receive(int, std::span<std::byte> bytes) override { return abandon(bytes); }
  bool messages_abandoned() const override { return true; }

  std::vector<std::span<std::byte>> abandoned;

 private:
  struct FailingTicket : Ticket {
    void complete() override { throw Error(ErrorKind::kSystem, "rank 2 has left the program", EOWNERDEAD); }
    bool test() override { return false; }
  };
  std::unique_ptr<Ticket> abandon(std::span<std::byte> bytes) {
    abandoned.push_back(bytes);
    return std::make_unique<FailingTicket>();
  }
};

TEST(GatheredTexts, AreNotFreedWhileMpiMayAccessThem) {
  const std::int64_t before = allocations::live_bytes();
  run_team(2, [](Transport& inner) {
    AbandoningTransport transport(inner);
    EXPECT_THROW(gather(transport, [] { return std::string(kTextBytes, 'x'); }), Error);
    ASSERT_EQ(transport.abandoned.size(), 1U);
    ASSERT_GT(transport.abandoned[0].size(), kTextBytes);
    std::ranges::fill(transport.abandoned[0], std::byte{1});  // a sanitizer reports this write if the memory was freed
  });
  if (!oracle::kSanitized) {  // sanitizers do not count allocated bytes
    EXPECT_GE(allocations::live_bytes() - before, static_cast<std::int64_t>(2 * kTextBytes));
  }
}

}  // namespace
