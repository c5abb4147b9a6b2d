// Connection attempts of an event loop, which do not block. The tests set the time.
#include "transport/native/active/connection_attempt.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/host/sockets.hpp"
#include "native_case.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = ConnectionAttempt::State;

/// An event loop that handles one event in each call of handle_event().
class ManualLoop : public EventLoop {
 public:
  Watch register_handler(std::shared_ptr<EventHandler> handler) override {
    handlers_[++last_] = std::move(handler);
    return {set_.number(), last_};
  }
  void unregister(const Watch& watch) override { handlers_.erase(watch.id()); }
  void set_timer(Clock::time_point time) override { timer = time; }
  bool post(std::function<void()>) override { return false; }

  void handle_event() {
    epoll_event event{};
    if (::epoll_wait(set_.number(), &event, 1, 10) != 1) return;
    const std::uint64_t id = event.data.u64;  // a copy: epoll_event is packed, and its field is not aligned
    const auto entry = handlers_.find(id);
    ASSERT_NE(entry, handlers_.end()) << "an event for a socket without a handler";
    std::shared_ptr(entry->second)->on_event(event.events);
  }
  Clock::time_point timer{};

 private:
  base::Descriptor set_{::epoll_create1(EPOLL_CLOEXEC)};
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::shared_ptr<EventHandler>> handlers_;
};

/// A socket that listens but does not accept connections by itself.
class SilentListener {
 public:
  explicit SilentListener(bool tcp, int backlog = 8)
      : socket_(::socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (tcp) {
      sockaddr_in name{};
      name.sin_family = AF_INET;
      name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t length = sizeof name;
      ::bind(socket_.number(), reinterpret_cast<sockaddr*>(&name), length);
      ::getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&name), &length);
      text = "tcp:127.0.0.1:" + std::to_string(ntohs(name.sin_port));
    } else {
      text = "local:plait-mute-" + std::to_string(::getpid());
      const base::host::LocalAddress name(text.substr(6));
      ::bind(socket_.number(), name.name(), name.length);
    }
    ::listen(socket_.number(), backlog);
  }
  void close() { socket_.close(); }
  base::Descriptor accept() const { return base::Descriptor(::accept(socket_.number(), nullptr, nullptr)); }
  std::string text;

 private:
  base::Descriptor socket_;
};

class NativeConnectionAttempt : public ::testing::Test {
 protected:
  std::shared_ptr<ConnectionAttempt> begin(const std::vector<std::string>& texts, const Key& server_key) {
    std::vector<Address> addresses;
    for (const std::string& text : texts) addresses.push_back(*Address::parse(text));
    auto attempt =
        std::make_shared<ConnectionAttempt>(loop, addresses, server_key, [this](ConnectionAttempt&) { ++changes; });
    attempt->go_on(now);
    return attempt;
  }
  /// Handles events until the attempt ends, and returns its state.
  State finish(ConnectionAttempt& attempt) {
    const auto limit = test_deadline();
    while (attempt.state() == State::kTrying && Clock::now() < limit) loop.handle_event();
    return attempt.state();
  }
  /// Advances the time in increments of 250 ms, until the attempt ends or `time` has passed.
  State pass(ConnectionAttempt& attempt, milliseconds time) {
    for (const auto end = now + time; now < end && attempt.state() == State::kTrying; now += milliseconds(250))
      attempt.go_on(now);
    return attempt.state();
  }

  const Key key = Key::random();
  ManualLoop loop;
  Clock::time_point now = Clock::now();
  int changes = 0;
};

TEST_F(NativeConnectionAttempt, ConnectsToAServerWithTheSameKey) {
  for (const std::string carrier : {"local:", "tcp:127."}) {
    TestServer served;
    const auto addresses = served.endpoints_by(carrier).addresses;
    ASSERT_FALSE(addresses.empty());
    const auto attempt = begin(addresses, served.key);
    ASSERT_EQ(finish(*attempt), State::kConnected) << attempt->describe_results();
    EXPECT_EQ(attempt->is_local(), carrier == "local:");
    EXPECT_GE(attempt->take_socket().number(), 0);
    EXPECT_TRUE(served.peer());
  }
  EXPECT_EQ(changes, 2);
}

TEST_F(NativeConnectionAttempt, ARefusedConnectionFailsAtOnce) {
  for (const bool tcp : {false, true}) {
    SilentListener closed_listener(tcp);
    closed_listener.close();
    const auto attempt = begin({closed_listener.text}, key);
    EXPECT_EQ(finish(*attempt), State::kRefused);
    EXPECT_NE(attempt->describe_results().find(closed_listener.text), std::string::npos);
  }
}

TEST_F(NativeConnectionAttempt, FailsAtAServerWithAnotherKey) {
  TestServer served;
  const auto attempt = begin(served.endpoints_by("local:").addresses, key);
  EXPECT_EQ(finish(*attempt), State::kRefused);
  EXPECT_NE(attempt->describe_results().find("another key"), std::string::npos) << attempt->describe_results();
}

TEST_F(NativeConnectionAttempt, SkipsAddressesOfOtherServers) {
  SilentListener closed_listener(/*tcp=*/true);
  closed_listener.close();
  TestServer other;
  TestServer served;
  const auto attempt = begin({closed_listener.text, other.endpoints_by("tcp:127.").addresses.front(),
                              served.endpoints_by("tcp:127.").addresses.front()},
                             served.key);
  EXPECT_EQ(finish(*attempt), State::kConnected) << attempt->describe_results();
}

/// The full backlog of the listener stands for a host that does not answer: the kernel drops connection requests.
TEST_F(NativeConnectionAttempt, GivesUpAHostThatDoesNotAnswerAfterNineSeconds) {
  const SilentListener full(/*tcp=*/true, /*backlog=*/0);
  const auto first = begin({full.text}, key);  // fills the backlog
  while (first->state() == State::kTrying && loop.timer < Clock::time_point::max()) loop.handle_event();
  const auto attempt = begin({full.text}, key);
  EXPECT_EQ(pass(*attempt, milliseconds(8900)), State::kTrying);
  EXPECT_EQ(pass(*attempt, milliseconds(500)), State::kUnanswered) << attempt->describe_results();
}

/// The listener stands for a stopped process: its kernel accepts the connection, but the process sends nothing.
TEST_F(NativeConnectionAttempt, WaitsForAStoppedProcess) {
  for (const bool tcp : {false, true}) {
    SilentListener silent(tcp);
    const auto attempt = begin({silent.text}, key);
    EXPECT_EQ(pass(*attempt, seconds(60)), State::kTrying);
    silent.close();  // as if the process ended: the kernel closes the connections in its backlog
    EXPECT_EQ(pass(*attempt, seconds(20)), State::kRefused);
  }
}

/// It also waits if another address of the process does not answer.
TEST_F(NativeConnectionAttempt, WaitsForAStoppedProcessWithSeveralAddresses) {
  const SilentListener silent(/*tcp=*/true);
  const SilentListener full(/*tcp=*/true, /*backlog=*/0);
  const auto first = begin({full.text}, key);  // fills the backlog
  while (first->state() == State::kTrying && loop.timer < Clock::time_point::max()) loop.handle_event();
  const auto attempt = begin({silent.text, full.text}, key);
  EXPECT_EQ(pass(*attempt, seconds(60)), State::kTrying) << attempt->describe_results();
}

TEST_F(NativeConnectionAttempt, AnEndedAttemptMakesNoCallback) {
  const SilentListener silent(/*tcp=*/false);
  const auto attempt = begin({silent.text}, key);
  attempt->end();
  attempt->go_on(now + seconds(100));
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(attempt->next_time(), Clock::time_point::max());
}

}  // namespace
}  // namespace plait::transport::native
