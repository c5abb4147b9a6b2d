// How connections end: by killed processes, stopped servers, and in forked children.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "native_case.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A forked process, which is killed at the end.
class Child {
 public:
  template <typename Body>
  explicit Child(Body&& body) : id_(::fork()) {
    if (id_ != 0) return;
    body();
    ::_exit(0);
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    id_ = 0;
  }

 private:
  pid_t id_;
};

class NativeEnds : public ::testing::TestWithParam<std::string> {};

std::string carrier_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param == "local:" ? "Local" : "Tcp";
}

INSTANTIATE_TEST_SUITE_P(Carriers, NativeEnds, ::testing::Values("local:", "tcp:127."), carrier_name);

TEST_P(NativeEnds, AServerNoticesAKilledClientAtOnce) {
  TestServer served;
  // The child makes the connection itself, because a forked child cannot use a connection of its parent.
  Child child([&] {
    const auto link = Link::connect(served.endpoints_by(GetParam()), served.key, test_deadline());
    send(*link, {1, 0, 0, 0}, {});
    ::pause();
  });
  ASSERT_TRUE(served.service->wait_until([&] { return served.service->frames == 1; }));
  const auto begin = Clock::now();
  child.kill();
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 1; }));
  EXPECT_LT(Clock::now() - begin, seconds(8));
}

TEST_P(NativeEnds, AClientNoticesAKilledServerAtOnce) {
#if defined(PLAIT_SANITIZE_THREAD)
  GTEST_SKIP() << "under ThreadSanitizer a child of a program with threads starts none, and a server needs one";
#endif
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const Key key = Key::random();
  Child child([&] {
    const TestServer served;  // has another key; only its service is used
    const auto server = Server::start(key, served.service, {.network = "lo"});
    const std::string text = server->endpoints().text() + '\n';
    (void)!::write(pipe[1], text.data(), text.size());
    ::pause();
  });
  std::string text;
  for (char byte = 0; ::read(pipe[0], &byte, 1) == 1 && byte != '\n';) text += byte;
  ::close(pipe[0]);
  ::close(pipe[1]);
  Endpoints to = Endpoints::parse(text);
  std::erase_if(to.addresses, [&](const std::string& address) { return !address.starts_with(GetParam()); });
  const auto link = Link::connect(to, key, test_deadline());
  EXPECT_FALSE(link->is_closed_by_peer());
  std::thread killer([&] {
    std::this_thread::sleep_for(milliseconds(50));
    child.kill();
  });
  const auto begin = Clock::now();
  const std::string error = catch_error([&] { link->receive(test_deadline()); });
  EXPECT_LT(Clock::now() - begin, seconds(8));
  EXPECT_TRUE(error.starts_with(std::to_string(ECONNRESET))) << error;
  EXPECT_NE(error.find(to.name), std::string::npos) << error;
  EXPECT_TRUE(link->is_closed_by_peer());
  killer.join();
  const std::string reconnect_error = catch_error([&] { Link::connect(to, key, test_deadline()); });
  EXPECT_TRUE(reconnect_error.starts_with(std::to_string(ECONNREFUSED))) << reconnect_error;
}

TEST_P(NativeEnds, AForkedChildKeepsNoConnectionOpen) {
  TestServer served;
  auto link = served.connect(GetParam());
  ASSERT_TRUE(served.peer());
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const Child child([&] {
    // Calls on the child's copies fail or do nothing.
    const bool failed = catch_error([&] { send(*link, {}, {}); }) != "no error";
    served.service->peers.back()->send({1, 0, 0, 0}, {});
    served.service->peers.back()->close();
    link.reset();
    served.server.reset();
    const char reply = failed ? 'y' : 'n';
    (void)!::write(pipe[1], &reply, 1);
    ::pause();
  });
  char reply = 0;
  ASSERT_EQ(::read(pipe[0], &reply, 1), 1);
  ::close(pipe[0]);
  ::close(pipe[1]);
  EXPECT_EQ(reply, 'y');
  send(*link, {1, 0, 0, 0}, {});  // the parent's connection still works
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->frames == 1; }));
  link.reset();
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 1; }, seconds(2)));
}

TEST_P(NativeEnds, AServerStopsWithQueuedFrames) {
  TestServer served;
  const auto link = served.connect(GetParam());
  const auto peer = served.peer();
  ASSERT_TRUE(peer);
  std::atomic<int> streams_ended = 0;
  std::atomic<bool> any_complete = false;
  for (int i = 0; i < 3; ++i)
    peer->stream(
        {1, 0, 0, 0}, std::uint64_t{1} << 30, [](std::uint64_t, std::span<std::byte>) { return true; },
        [&](bool complete) {
          any_complete = any_complete || complete;
          ++streams_ended;
        });
  const Bytes body(500'000);
  for (int i = 0; i < 40; ++i) peer->send({2, 0, 0, 0}, body);
  const auto begin = Clock::now();
  served.server.reset();
  EXPECT_LT(Clock::now() - begin, seconds(8));
  EXPECT_EQ(streams_ended, 3);
  EXPECT_FALSE(any_complete);
  EXPECT_EQ(served.service->reasons, std::vector<std::string>{"this process has ended the connection"});
  // Calls on a peer that outlives its server do nothing.
  peer->send({3, 0, 0, 0}, body);
  peer->stream(
      {1, 0, 0, 0}, 10, [](std::uint64_t, std::span<std::byte>) { return true; }, [&](bool) { ++streams_ended; });
  peer->close();
  EXPECT_EQ(streams_ended, 4);
  const std::string error = catch_error([&] {
    while (true) receive_body(*link, link->receive(test_deadline()));
  });
  EXPECT_TRUE(error.starts_with(std::to_string(ECONNRESET))) << error;
}

TEST_P(NativeEnds, APeerThatDoesNotReadIsClosedAfterATimeLimit) {
  TestServer served;
  const auto link = served.connect(GetParam());
  const auto peer = served.peer();
  ASSERT_TRUE(peer);
  const Bytes body(1'000'000);
  for (int i = 0; i < 30; ++i) peer->send({2, 0, 0, 0}, body);
  const auto begin = Clock::now();
  peer->close();
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 1; }));
  EXPECT_GE(Clock::now() - begin, milliseconds(900));
  EXPECT_LT(Clock::now() - begin, seconds(8));
}

TEST_P(NativeEnds, ManyConnectionsOpenAndClose) {
  TestServer served;
  served.service->on_frame = [](const auto& peer, const FrameHead& head, auto body) { peer->send(head, body); };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 3; ++thread)
    threads.emplace_back([&served, thread] {
      for (unsigned i = 0; i < 20; ++i) {
        const auto link = served.connect(GetParam());
        const Bytes body = make_bytes(i * 1000, thread);
        send(*link, {1, 0, i, 0}, body);
        if (i % 2 == 1) continue;
        EXPECT_EQ(receive_body(*link, link->receive(test_deadline())), body);
      }
    });
  for (std::thread& client : threads) client.join();
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 60; }));
  EXPECT_EQ(served.server->rejected(), 0);
}

}  // namespace
}  // namespace plait::transport::native
