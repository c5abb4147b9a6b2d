// Those who do not know the key.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "base/host/sockets.hpp"
#include "native_case.hpp"
#include "transport/native/address.hpp"
#include "transport/native/hello.hpp"
#include "transport/native/waiting.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A connection that nobody has introduced.
base::Descriptor call(const std::string& text) {
  const Address address = Address::parse(text).value();
  if (const auto* tcp = std::get_if<Address::Tcp>(&address.where)) {
    const SystemAddress to(*tcp);
    base::Descriptor socket(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.number(), to.name(), to.length), 0);
    return socket;
  }
  const base::host::LocalAddress to(std::get<Address::Local>(address.where).name);
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(socket.number(), to.name(), to.length), 0);
  return socket;
}

std::span<const std::byte> raw(std::string_view text) { return std::as_bytes(std::span(text)); }
std::span<const std::byte> raw(const Hello& hello) { return std::as_bytes(std::span(&hello, 1)); }

/// What comes until the other end closes, or nothing comes for a while.
std::string all_that_comes(const base::Descriptor& socket) {
  std::string came;
  char one = 0;
  while (receive_all(socket.number(), std::as_writable_bytes(std::span(&one, 1)), in(seconds(5))) == 0) came += one;
  return came;
}

class NativeUnauthenticated : public ::testing::Test {
 protected:
  explicit NativeUnauthenticated(milliseconds hello = milliseconds(300)) : served(options(hello)) {}
  static Server::Options options(milliseconds hello) {
    Server::Options made;
    made.network = "lo";
    made.hello = hello;
    return made;
  }
  bool refused(std::int64_t count) {
    const auto limit = soon();
    while (served.server->rejected() < count && Clock::now() < limit) std::this_thread::sleep_for(milliseconds(1));
    return served.server->rejected() == count;
  }
  /// A process that knows the key is answered.
  void expect_service(Link& link) {
    send(link, {1, 0, 0, 0}, some_bytes(1000));
    EXPECT_EQ(take_body(link, link.receive(soon())), some_bytes(1000));
  }
  void echo() {
    served.ears->on_frame = [](const auto& peer, const FrameHead& head, auto body) { peer->send(head, body); };
  }

  TestServer served;
};

/// A server whose time limit is longer than any of these tests.
class NativeUnauthenticatedTimeout : public NativeUnauthenticated {
 protected:
  NativeUnauthenticatedTimeout() : NativeUnauthenticated(seconds(60)) {}
};

TEST_F(NativeUnauthenticatedTimeout, AreRefusedAtTheirFirstWrongByte) {
  std::int64_t count = 0;
  for (const std::string& address : served.server->endpoints().addresses) {
    for (const std::string_view text :
         {std::string_view("GET / HTTP/1.1\r\nHost: plait\r\n\r\n"), std::string_view("\x16\x03\x01"),
          std::string_view("\0\0\0\0", 4), std::string_view("\x93PLAIT\r!")}) {
      const base::Descriptor socket = call(address);
      const auto begin = Clock::now();
      ASSERT_EQ(send_all(socket.number(), raw(text), soon()), 0);
      EXPECT_EQ(all_that_comes(socket), "");
      EXPECT_LT(Clock::now() - begin, seconds(4)) << "only a time limit ended it";
      EXPECT_TRUE(refused(++count));
    }
  }
  EXPECT_TRUE(served.ears->peers.empty());
}

TEST_F(NativeUnauthenticated, WhoSayTooLittleAreRefusedInTime) {
  const auto begin = Clock::now();
  const base::Descriptor silent = call(served.server->endpoints().addresses.front());
  const base::Descriptor half = call(served.server->endpoints().addresses.back());
  ASSERT_EQ(send_all(half.number(), raw(make_hello()).first(40), soon()), 0);
  const base::Descriptor unproved = call(served.server->endpoints().addresses.back());
  ASSERT_EQ(send_all(unproved.number(), raw(make_hello()), soon()), 0);
  EXPECT_EQ(all_that_comes(silent), "");
  EXPECT_EQ(all_that_comes(half), "");
  EXPECT_EQ(all_that_comes(unproved).size(), sizeof(Hello) + sizeof(Proof));
  EXPECT_GE(Clock::now() - begin, milliseconds(290));
  EXPECT_LT(Clock::now() - begin, seconds(8));
  EXPECT_TRUE(refused(3));
  EXPECT_TRUE(served.ears->peers.empty());
}

TEST_F(NativeUnauthenticated, WithAnotherKeyAreToldSo) {
  for (const std::string_view carrier : {"local:", "tcp:127."}) {
    const std::string error = catch_error([&] { Link::connect(served.only(carrier), Key::random(), soon()); });
    EXPECT_TRUE(error.starts_with(std::to_string(EACCES))) << error;
    EXPECT_NE(error.find("another key"), std::string::npos) << error;
  }
  EXPECT_TRUE(refused(2));
}

TEST_F(NativeUnauthenticated, CannotProveByWhatTheServerSays) {
  // Its own proof sent back, that of another connection, and one of nothing.
  Bytes last;
  for (std::size_t attempt = 0; attempt < 3; ++attempt) {
    const base::Descriptor socket = call(served.server->endpoints().addresses.front());
    ASSERT_EQ(send_all(socket.number(), raw(make_hello()), soon()), 0);
    Bytes answer(sizeof(Hello) + sizeof(Proof));
    ASSERT_EQ(receive_all(socket.number(), answer, soon()), 0);
    const auto own = std::span(answer).subspan(sizeof(Hello));
    const Bytes nothing(sizeof(Proof));
    const std::vector<std::span<const std::byte>> proofs{own, last, nothing};
    ASSERT_EQ(send_all(socket.number(), proofs[attempt], soon()), 0);
    EXPECT_EQ(all_that_comes(socket), "");
    last.assign(own.begin(), own.end());
  }
  EXPECT_TRUE(refused(3));
  EXPECT_TRUE(served.ears->peers.empty());
}

TEST_F(NativeUnauthenticated, ProvedOnesAreLetInByHand) {
  const base::Descriptor socket = call(served.server->endpoints().addresses.front());
  const Hello own = make_hello();
  ASSERT_EQ(send_all(socket.number(), raw(own), soon()), 0);
  Hello theirs;
  Proof proof;
  ASSERT_EQ(receive_all(socket.number(), std::as_writable_bytes(std::span(&theirs, 1)), soon()), 0);
  ASSERT_EQ(receive_all(socket.number(), proof, soon()), 0);
  EXPECT_TRUE(same(proof, prove(served.key, Role::kServer, own, theirs)));
  EXPECT_FALSE(same(proof, prove(served.key, Role::kClient, own, theirs)));
  ASSERT_EQ(send_all(socket.number(), prove(served.key, Role::kClient, own, theirs), soon()), 0);
  EXPECT_TRUE(served.ears->until([&] { return served.ears->peers.size() == 1; }));
  // A frame that is longer than any may be.
  const FrameHead head{1, 0, 0, kMaxReceive + 1};
  ASSERT_EQ(send_all(socket.number(), std::as_bytes(std::span(&head, 1)), soon()), 0);
  EXPECT_TRUE(served.ears->until([&] { return served.ears->reasons.size() == 1; }));
  EXPECT_NE(served.ears->reasons[0].find("longer"), std::string::npos);
  EXPECT_EQ(served.server->rejected(), 0);
}

TEST_F(NativeUnauthenticated, OfOtherVersionsHearWhichThisIs) {
  std::int64_t count = 0;
  for (int which = 0; which < 3; ++which) {
    Hello other = make_hello();
    if (which == 0) other.version[0] = 9;
    if (which == 1) std::reverse(reinterpret_cast<char*>(&other.order), reinterpret_cast<char*>(&other.order) + 4);
    if (which == 2) other.head_bytes = 32;
    const base::Descriptor socket = call(served.server->endpoints().addresses.front());
    ASSERT_EQ(send_all(socket.number(), raw(other), soon()), 0);
    const std::string answer = all_that_comes(socket);
    ASSERT_EQ(answer.size(), sizeof(Hello) + sizeof(Proof));
    Hello theirs;
    std::memcpy(&theirs, answer.data(), sizeof theirs);
    EXPECT_EQ(find_fault(theirs), HelloFault::kNone);
    EXPECT_EQ(answer.substr(sizeof(Hello)), std::string(sizeof(Proof), '\0'));  // nothing is proved to it
    EXPECT_TRUE(refused(++count));
  }
}

/// Accepts one connection and says something to it.
class FalseServer {
 public:
  explicit FalseServer(std::string says) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof any;
    EXPECT_EQ(::bind(listener_.number(), reinterpret_cast<sockaddr*>(&any), length), 0);
    EXPECT_EQ(::listen(listener_.number(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&any), &length), 0);
    endpoints = own_host();
    endpoints.addresses.push_back("tcp:127.0.0.1:" + std::to_string(ntohs(any.sin_port)));
    thread_ = std::thread([this, says] {
      const base::Descriptor socket(::accept(listener_.number(), nullptr, nullptr));
      Hello hello;
      receive_all(socket.number(), std::as_writable_bytes(std::span(&hello, 1)), soon());
      send_all(socket.number(), raw(says), soon());
      char one = 0;
      receive_all(socket.number(), std::as_writable_bytes(std::span(&one, 1)), soon());
    });
  }
  ~FalseServer() { thread_.join(); }

  Endpoints endpoints;

 private:
  base::Descriptor listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::thread thread_;
};

std::string error_from(std::string says) {
  const FalseServer server(std::move(says));
  return catch_error([&] { Link::connect(server.endpoints, Key::random(), in(milliseconds(400))); });
}

std::string to_text(const Hello& hello) { return {reinterpret_cast<const char*>(&hello), sizeof hello}; }

TEST(NativeFalseServers, AreTold) {
  const std::string web = error_from("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_TRUE(web.starts_with(std::to_string(EACCES))) << web;
  EXPECT_NE(web.find("something else than Plait"), std::string::npos) << web;

  Hello other = make_hello();
  other.version[0] = 9;
  const std::string version = error_from(to_text(other));
  EXPECT_TRUE(version.starts_with(std::to_string(EPROTO))) << version;
  EXPECT_NE(version.find("version 9"), std::string::npos) << version;
  other = make_hello();
  other.order = 0x04030201;
  const std::string order = error_from(to_text(other));
  EXPECT_TRUE(order.starts_with(std::to_string(EPROTO))) << order;
  EXPECT_NE(order.find("byte order"), std::string::npos) << order;

  const std::string key = error_from(to_text(make_hello()) + std::string(sizeof(Proof), 'x'));
  EXPECT_TRUE(key.starts_with(std::to_string(EACCES))) << key;
  EXPECT_NE(key.find("another key"), std::string::npos) << key;
  const std::string silent = error_from("");
  EXPECT_TRUE(silent.starts_with(std::to_string(ETIMEDOUT))) << silent;
  EXPECT_NE(silent.find("did not answer as Plait does"), std::string::npos) << silent;
}

TEST_F(NativeUnauthenticated, ManyAtOnceDisturbNobody) {
  echo();
  const auto link = served.connect("tcp:127.");
  std::vector<base::Descriptor> strangers;
  const std::string address = served.only("tcp:127.").addresses.front();
  const std::string local = served.only("local:").addresses.front();
  for (int i = 0; i < 200; ++i) {
    strangers.push_back(call(i % 2 == 0 ? address : local));
    if (i % 3 == 0) (void)send_all(strangers.back().number(), raw("rubbish"), soon());
    if (i % 3 == 1) (void)send_all(strangers.back().number(), raw(make_hello()).first(30), soon());
    if (i % 20 == 0) expect_service(*link);
  }
  // One that comes behind all of them is let in before their time is up.
  const auto begin = Clock::now();
  const auto late = served.connect("local:");
  expect_service(*late);
  EXPECT_LT(Clock::now() - begin, seconds(8));
  expect_service(*link);
  EXPECT_TRUE(refused(200));
  EXPECT_EQ(served.ears->peers.size(), 2U);
}

}  // namespace
}  // namespace plait::transport::native
