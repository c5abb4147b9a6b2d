// Options of a server, and the addresses at which clients connect to it.
#include "transport/native/server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/host/host.hpp"
#include "base/host/sockets.hpp"
#include "native_case.hpp"
#include "transport/native/address.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::uint16_t parse_port(const std::string& address) {
  return std::get<Address::Tcp>(Address::parse(address).value().where).port;
}

TEST(NativeServer, HasEndpointsThatClientsCanUse) {
  const TestServer served(/*network=*/"");
  const Endpoints endpoints = served.server->endpoints();
  EXPECT_TRUE(endpoints.is_on_this_host());
  ASSERT_FALSE(endpoints.addresses.empty());
  EXPECT_TRUE(endpoints.addresses.front().starts_with("local:plait-"));
  EXPECT_EQ(endpoints.addresses.size(), 1 + base::host::own_addresses().size());
  for (const std::string& address : endpoints.addresses) EXPECT_FALSE(address.starts_with("tcp:127.")) << address;
  const Endpoints parsed = Endpoints::parse(endpoints.text());
  EXPECT_EQ(parsed.addresses, endpoints.addresses);
  EXPECT_EQ(parsed.name, endpoints.name);
  for (std::size_t i = 0; i < endpoints.addresses.size(); ++i) {
    Endpoints single = endpoints;
    single.addresses = {endpoints.addresses[i]};
    EXPECT_NO_THROW(Link::connect(single, served.key, test_deadline())) << endpoints.addresses[i];
  }
}

TEST(NativeServer, OnAnotherHostIsNotReachedLocally) {
  const TestServer served;
  Endpoints remote = served.server->endpoints();
  remote.host = "another";
  EXPECT_FALSE(remote.is_on_this_host());
  EXPECT_FALSE(Link::connect(remote, served.key, test_deadline())->is_local());
  remote.addresses.resize(1);
  const std::string error = catch_error([&] { Link::connect(remote, served.key, test_deadline()); });
  EXPECT_NE(error.find("only processes of its host reach that"), std::string::npos) << error;
}

TEST(NativeServer, IsReachedOnlyThroughTheSelectedNetwork) {
  if (base::host::own_addresses().empty())
    GTEST_SKIP() << "this host has no address but those of the loopback interface";
  TestServer served("127.0.0.0/8");
  Endpoints other = served.endpoints_by("tcp:");
  ASSERT_EQ(other.addresses.size(), 1U);
  EXPECT_NO_THROW(Link::connect(other, served.key, test_deadline()));
  other.addresses = {
      Address{Address::Tcp{base::host::own_addresses().front(), parse_port(other.addresses.front())}}.text()};
  const std::string error = catch_error([&] { Link::connect(other, served.key, test_deadline()); });
  EXPECT_NE(error.find("connection was closed"), std::string::npos) << error;
  EXPECT_GE(served.server->rejected(), 1);
}

TEST(NativeServer, ListsTheAddressesIfTheNetworkIsUnknown) {
  const std::string error = catch_error([] { TestServer("eth99"); });
  EXPECT_NE(error.find("'eth99' is no interface"), std::string::npos) << error;
  EXPECT_NE(error.find("lo 127.0.0.1"), std::string::npos) << error;
}

TEST(NativeServer, UsesAPortOfTheRange) {
  Server::Options options;
  options.network = "127.0.0.1";
  std::vector<std::unique_ptr<TestServer>> servers;
  // Finds two consecutive ports that are free.
  for (std::uint16_t first = 40000; first < 60000 && servers.size() < 2;
       first = static_cast<std::uint16_t>(first + 17)) {
    servers.clear();
    options.first_port = first;
    options.last_port = static_cast<std::uint16_t>(first + 1);
    try {
      for (int i = 0; i < 2; ++i) servers.push_back(std::make_unique<TestServer>(options));
    } catch (const Error&) {
    }
  }
  ASSERT_EQ(servers.size(), 2U);
  for (const auto& served : servers) {
    const std::uint16_t port = parse_port(served->endpoints_by("tcp:").addresses.front());
    EXPECT_TRUE(port == options.first_port || port == options.last_port);
    EXPECT_NO_THROW(served->connect("tcp:"));
  }
  const std::string error = catch_error([&] { TestServer third(options); });
  EXPECT_TRUE(error.starts_with(std::to_string(EADDRINUSE))) << error;
  EXPECT_NE(error.find("all ports from " + std::to_string(options.first_port)), std::string::npos) << error;
  // The ports of a stopped server are free at once.
  servers.clear();
  EXPECT_NO_THROW(TestServer{options});
}

TEST(NativeServer, RejectsInvalidPortRanges) {
  Server::Options options;
  options.first_port = 5000;
  EXPECT_NE(catch_error([&] { TestServer{options}; }).find("no range of ports"), std::string::npos);
  options.last_port = 4999;
  EXPECT_NE(catch_error([&] { TestServer{options}; }).find("5000 to 4999"), std::string::npos);
}

TEST(NativeServer, ErrorsNameEachAddressThatWasTried) {
  Endpoints gone;
  Key key = Key::random();
  {
    const TestServer served;
    gone = served.server->endpoints();
    key = served.key;
  }
  const std::string error = catch_error([&] { Link::connect(gone, key, test_deadline()); });
  EXPECT_TRUE(error.starts_with(std::to_string(ECONNREFUSED))) << error;
  for (const std::string& address : gone.addresses)
    EXPECT_NE(error.find(address + ": no process listens there"), std::string::npos) << error;
  EXPECT_NE(error.find("process on " + gone.name), std::string::npos) << error;
  gone.addresses.clear();
  EXPECT_NE(catch_error([&] { Link::connect(gone, key, test_deadline()); }).find("it has no address"),
            std::string::npos);
}

TEST(NativeServer, AnAddressThatDoesNotAnswerUsesItsShareOfTheTime) {
  TestServer served;
  // This listener has a backlog of 0 and accepts no connection.
  const int full = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof any;
  ASSERT_EQ(::bind(full, reinterpret_cast<sockaddr*>(&any), length), 0);
  ASSERT_EQ(::listen(full, 0), 0);
  ASSERT_EQ(::getsockname(full, reinterpret_cast<sockaddr*>(&any), &length), 0);
  Endpoints to = served.endpoints_by("tcp:127.");
  to.addresses.insert(to.addresses.begin(), "tcp:127.0.0.1:" + std::to_string(ntohs(any.sin_port)));
  const auto begin = Clock::now();
  EXPECT_NO_THROW(Link::connect(to, served.key, in(milliseconds(600))));
  EXPECT_GE(Clock::now() - begin, milliseconds(290));
  ::close(full);
}

TEST(NativeServer, RunsPostedFunctionsOnItsThread) {
  TestServer served;
  std::thread::id server_thread;
  std::vector<int> order;
  bool blocked = false;
  for (int i = 0; i < 100; ++i)
    served.server->post([&, i] {
      sigset_t signals;
      pthread_sigmask(SIG_SETMASK, nullptr, &signals);
      served.service->update([&] {
        server_thread = std::this_thread::get_id();
        blocked = sigismember(&signals, SIGTERM) == 1 && sigismember(&signals, SIGUSR1) == 1;
        order.push_back(i);
      });
    });
  EXPECT_TRUE(served.service->wait_until([&] { return order.size() == 100; }));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_TRUE(blocked);
  EXPECT_NE(server_thread, std::this_thread::get_id());
  sigset_t signals;
  pthread_sigmask(SIG_SETMASK, nullptr, &signals);
  EXPECT_EQ(sigismember(&signals, SIGTERM), 0);
}

TEST(NativeServer, ServesConnectionsWithoutFreeDescriptors) {
  TestServer served;
  served.service->on_frame = [](const auto& peer, const FrameHead& head, auto body) { peer->send(head, body); };
  const auto link = served.connect();
  ASSERT_TRUE(served.peer());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // A client that is connected but that the server cannot accept, because it has no free descriptor.
  const int waiting = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int next = ::dup(waiting);
  ::close(next);
  const rlimit no_more{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &no_more), 0);
  const auto address = Address::parse(served.endpoints_by("local:").addresses.front()).value();
  const base::host::LocalAddress to(std::get<Address::Local>(address.where).name);
  EXPECT_EQ(::connect(waiting, to.name(), to.length), 0);
  send(*link, {1, 0, 0, 0}, make_bytes(100));
  EXPECT_EQ(receive_body(*link, link->receive(test_deadline())), make_bytes(100));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ::close(waiting);
  const auto begin = Clock::now();
  EXPECT_NO_THROW(served.connect());
  EXPECT_LT(Clock::now() - begin, seconds(8));
}

/// The queue of answers to one peer is bounded; other peers still get their answers.
TEST(NativeServer, StopsReadingFromAPeerThatReadsNoAnswers) {
  for (const char* const carrier : {"local:", "tcp:"}) {
    Server::Options options;
    options.network = "lo";
    options.max_queued = 8;
    const TestServer served(options);
    constexpr std::uint64_t kAnswer = 300'000;
    served.service->on_frame = [](const std::shared_ptr<Peer>& peer, const FrameHead& head,
                                  std::span<const std::byte>) {
      const auto produce = [](std::uint64_t offset, std::span<std::byte> into) {
        for (std::size_t i = 0; i < into.size(); ++i) into[i] = byte_at(offset + i);
        return true;
      };
      peer->stream({1, 0, head.tag, 0}, kAnswer, produce, nullptr);
    };
    const Bytes request = make_bytes(1000);
    auto client = served.connect(carrier);  // sends requests without reading the answers
    std::size_t sent_requests = 0;
    const std::string error = catch_error([&] {
      for (;; ++sent_requests) {
        const std::span<const std::byte> body = request;
        client->send({1, 0, 0, request.size()}, std::span(&body, 1), in(milliseconds(700)));
      }
    });
    EXPECT_EQ(error.substr(0, 4), std::to_string(ETIMEDOUT) + ' ') << error;
    {
      const std::scoped_lock lock(served.service->mutex);
      // 8 queued answers, those in the socket's buffers (one or two megabytes), and the requests in one read of 64 KiB.
      EXPECT_LE(served.service->frames, 8 + 65536 / 1024 + 1 + 30);
      EXPECT_GT(sent_requests, static_cast<std::size_t>(served.service->frames));
    }
    // Another client sends all its requests before it reads the answers.
    const auto other = served.connect(carrier);
    constexpr std::uint64_t kRequests = 100;
    for (std::uint64_t i = 0; i < kRequests; ++i) send(*other, {1, 0, i, request.size()}, request);
    for (std::uint64_t i = 0; i < kRequests; ++i) {
      std::uint64_t received = 0;
      while (received < kAnswer) {
        const FrameHead head = other->receive(test_deadline());
        ASSERT_EQ(head.tag, i);
        const Bytes body = receive_body(*other, head);
        ASSERT_EQ(body.back(), byte_at(received + body.size() - 1));
        received += body.size();
      }
    }
    client.reset();
    EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 1; }));
  }
}

}  // namespace
}  // namespace plait::transport::native
