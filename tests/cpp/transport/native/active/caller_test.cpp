// The calls to one rank, over a socket whose other end the test holds.
#include "transport/native/active/caller.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "base/descriptor.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {
namespace {

constexpr ssize_t kHeadBytes = sizeof(FrameHead);

class Events : public PeerEvents {
 public:
  bool introduced(const std::shared_ptr<Callee>&, int) override { return true; }
  void ended(const Callee*, int, bool leaves) override {
    ++ends;
    took_leave = leaves;
  }
  void on_loss(int, int) noexcept override {}
  int ends = 0;
  bool took_leave = false;
};

class NativeCaller : public ::testing::Test {
 protected:
  /// Connects the caller with a socket; returns the other end, which its introduction has come to.
  base::Descriptor connect() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    base::Descriptor theirs(ends[1]);
    caller.connected(base::Descriptor(ends[0]), true, Watch(set.number(), 1), 7);
    const auto head = next(theirs);
    EXPECT_TRUE(head && head->kind == static_cast<std::uint32_t>(ActiveFrame::kIntroduction) && head->tag == 7);
    return theirs;
  }
  /// The next frame without a payload, if one is there.
  static std::optional<FrameHead> next(const base::Descriptor& theirs) {
    FrameHead head;
    if (::recv(theirs.number(), &head, sizeof head, MSG_DONTWAIT) != kHeadBytes) return std::nullopt;
    std::array<char, sizeof(WireCall)> prefix{};
    if (head.bytes > 0) {
      EXPECT_EQ(::recv(theirs.number(), prefix.data(), head.bytes, 0), std::ssize(prefix));
    }
    return head;
  }
  void tell(const base::Descriptor& theirs, ActiveFrame kind, std::uint64_t tag = 0) {
    const FrameHead head = frame_head(kind, tag);
    EXPECT_EQ(::send(theirs.number(), &head, sizeof head, 0), kHeadBytes);
    caller.on_event(EPOLLIN, true);
  }
  bool call() {
    Call one;
    one.done = [this](const CallFailure* failure) { failure == nullptr ? ++answered : ++failed; };
    return caller.call(std::move(one));
  }

  base::Descriptor set{::epoll_create1(EPOLL_CLOEXEC)};
  Events events;
  int answered = 0;
  int failed = 0;
  Caller caller{events, 3, 4};
};

/// What comes before the introduction would end the connection.
TEST_F(NativeCaller, CallsGoOnceTheOtherEndServesThem) {
  EXPECT_TRUE(call());
  const auto theirs = connect();
  EXPECT_FALSE(call());
  EXPECT_FALSE(next(theirs));
  tell(theirs, ActiveFrame::kWelcome);
  for (int i = 0; i < 2; ++i) {
    const auto sent = next(theirs);
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->kind, static_cast<std::uint32_t>(ActiveFrame::kCall));
    tell(theirs, ActiveFrame::kAnswer, sent->tag);
  }
  EXPECT_EQ(answered, 2);
}

/// A server lets go of a stranger who has been slow, though he has proved himself by then.
TEST_F(NativeCaller, AConnectionThatIsNotServedIsMadeAnew) {
  EXPECT_TRUE(call());
  for (int tries = 1; tries <= 2; ++tries) {
    connect().close();
    caller.on_event(EPOLLIN, true);
    EXPECT_EQ(events.ends, tries);
    EXPECT_FALSE(events.took_leave);
    EXPECT_TRUE(caller.take_dropped());
    EXPECT_FALSE(caller.take_dropped());
  }
  auto theirs = connect();
  tell(theirs, ActiveFrame::kWelcome);
  const auto sent = next(theirs);
  ASSERT_TRUE(sent);
  tell(theirs, ActiveFrame::kAnswer, sent->tag);
  EXPECT_EQ(answered, 1);
  theirs.close();
  caller.on_event(EPOLLIN, true);
  EXPECT_EQ(events.ends, 3);
  EXPECT_FALSE(caller.take_dropped()) << "one that has served is lost";
  EXPECT_EQ(failed, 0);
}

TEST_F(NativeCaller, OneThatTakesLeaveBeforeItServesHasLeft) {
  EXPECT_TRUE(call());
  auto theirs = connect();
  tell(theirs, ActiveFrame::kLeaving);
  theirs.close();
  caller.on_event(EPOLLIN, true);
  EXPECT_TRUE(events.took_leave);
  EXPECT_FALSE(caller.take_dropped());
  caller.end({ErrorKind::kSystem, 1, "gone"});
  EXPECT_EQ(failed, 1);
}

}  // namespace
}  // namespace plait::transport::native
