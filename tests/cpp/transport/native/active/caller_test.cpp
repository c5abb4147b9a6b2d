// Calls to one rank, over a socket whose other end is in the test.
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

/// Counts the ends of connections.
class Events : public PeerEvents {
 public:
  bool on_introduced(const std::shared_ptr<Callee>&, int) override { return true; }
  void on_ended(const Callee*, int, bool leaves) override {
    ++ends;
    has_taken_leave = leaves;
  }
  void on_loss(int, int) noexcept override {}
  int ends = 0;
  bool has_taken_leave = false;
};

class NativeCaller : public ::testing::Test {
 protected:
  /// Connects the caller to a socket. Returns the other end, after the caller's introduction has arrived there.
  base::Descriptor connect() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    base::Descriptor peer_socket(ends[1]);
    caller.on_connected(base::Descriptor(ends[0]), true, Watch(set.number(), 1), 7);
    const auto head = receive_head(peer_socket);
    EXPECT_TRUE(head && head->kind == static_cast<std::uint32_t>(ActiveFrame::kIntroduction) && head->tag == 7);
    return peer_socket;
  }
  /// Returns the head of the next frame if one has arrived; drops its prefix.
  static std::optional<FrameHead> receive_head(const base::Descriptor& peer_socket) {
    FrameHead head;
    if (::recv(peer_socket.number(), &head, sizeof head, MSG_DONTWAIT) != kHeadBytes) return std::nullopt;
    std::array<char, sizeof(WireCall)> prefix{};
    if (head.bytes > 0) {
      EXPECT_EQ(::recv(peer_socket.number(), prefix.data(), head.bytes, 0), std::ssize(prefix));
    }
    return head;
  }
  void send_frame(const base::Descriptor& peer_socket, ActiveFrame kind, std::uint64_t tag = 0) {
    const FrameHead head = frame_head(kind, tag);
    EXPECT_EQ(::send(peer_socket.number(), &head, sizeof head, 0), kHeadBytes);
    caller.on_event(EPOLLIN, true);
  }
  /// Makes a call and counts how it ends. Returns the result of Caller::make_call().
  bool make_call() {
    Call request;
    request.done = [this](const CallFailure* failure) { failure == nullptr ? ++answered : ++failed; };
    return caller.call(std::move(request));
  }

  base::Descriptor set{::epoll_create1(EPOLL_CLOEXEC)};
  Events events;
  int answered = 0;
  int failed = 0;
  Caller caller{events, 3, 4};
};

/// The other end would close the connection if a call arrived before it has accepted the introduction.
TEST_F(NativeCaller, CallsAreSentAfterTheWelcome) {
  EXPECT_TRUE(make_call());
  const auto peer_socket = connect();
  EXPECT_FALSE(make_call());
  EXPECT_FALSE(receive_head(peer_socket));
  send_frame(peer_socket, ActiveFrame::kWelcome);
  for (int i = 0; i < 2; ++i) {
    const auto sent = receive_head(peer_socket);
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->kind, static_cast<std::uint32_t>(ActiveFrame::kCall));
    send_frame(peer_socket, ActiveFrame::kAnswer, sent->tag);
  }
  EXPECT_EQ(answered, 2);
}

/// A busy server may drop a slow connection even after it has authenticated itself.
TEST_F(NativeCaller, AConnectionThatIsDroppedBeforeTheWelcomeIsRetried) {
  EXPECT_TRUE(make_call());
  for (int tries = 1; tries <= 2; ++tries) {
    connect().close();
    caller.on_event(EPOLLIN, true);
    EXPECT_EQ(events.ends, tries);
    EXPECT_FALSE(events.has_taken_leave);
    EXPECT_TRUE(caller.discard_unserved());
    EXPECT_FALSE(caller.discard_unserved());
  }
  auto peer_socket = connect();
  send_frame(peer_socket, ActiveFrame::kWelcome);
  const auto sent = receive_head(peer_socket);
  ASSERT_TRUE(sent);
  send_frame(peer_socket, ActiveFrame::kAnswer, sent->tag);
  EXPECT_EQ(answered, 1);
  peer_socket.close();
  caller.on_event(EPOLLIN, true);
  EXPECT_EQ(events.ends, 3);
  EXPECT_FALSE(caller.discard_unserved()) << "a rank that has served calls is lost";
  EXPECT_EQ(failed, 0);
}

TEST_F(NativeCaller, ARankThatLeavesBeforeTheWelcomeHasLeft) {
  EXPECT_TRUE(make_call());
  auto peer_socket = connect();
  send_frame(peer_socket, ActiveFrame::kLeaving);
  peer_socket.close();
  caller.on_event(EPOLLIN, true);
  EXPECT_TRUE(events.has_taken_leave);
  EXPECT_FALSE(caller.discard_unserved());
  caller.end({ErrorKind::kSystem, 1, "gone"});
  EXPECT_EQ(failed, 1);
}

}  // namespace
}  // namespace plait::transport::native
