// Clients that do not know the key of a server, and servers that do not know the key of a client.
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

/// Opens a connection without a handshake.
base::Descriptor connect_raw(const std::string& text) {
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

std::span<const std::byte> as_raw_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
std::span<const std::byte> as_raw_bytes(const Hello& hello) { return std::as_bytes(std::span(&hello, 1)); }

/// Returns the bytes that arrive until the other end closes the connection, or none arrives for 5 seconds.
std::string receive_until_closed(const base::Descriptor& socket) {
  std::string received;
  char byte = 0;
  while (receive_all(socket.number(), std::as_writable_bytes(std::span(&byte, 1)), in(seconds(5))) == 0)
    received += byte;
  return received;
}

class NativeUnauthenticated : public ::testing::Test {
 protected:
  explicit NativeUnauthenticated(milliseconds handshake_timeout = milliseconds(300))
      : served(make_options(handshake_timeout)) {}
  static Server::Options make_options(milliseconds handshake_timeout) {
    Server::Options result;
    result.network = "lo";
    result.handshake_timeout = handshake_timeout;
    return result;
  }
  /// Waits until the server has rejected `count` clients. Returns false if it has not, or has rejected more.
  bool wait_for_rejected(std::int64_t count) {
    const auto limit = test_deadline();
    while (served.server->rejected() < count && Clock::now() < limit) std::this_thread::sleep_for(milliseconds(1));
    return served.server->rejected() == count;
  }
  /// Expects that the server answers a client that knows the key.
  void expect_service(Link& link) {
    send(link, {1, 0, 0, 0}, make_bytes(1000));
    EXPECT_EQ(receive_body(link, link.receive(test_deadline())), make_bytes(1000));
  }
  void answer_by_echo() {
    served.service->on_frame = [](const auto& peer, const FrameHead& head, auto body) { peer->send(head, body); };
  }

  TestServer served;
};

/// A server whose time limit is longer than any of these tests.
class NativeUnauthenticatedTimeout : public NativeUnauthenticated {
 protected:
  NativeUnauthenticatedTimeout() : NativeUnauthenticated(seconds(60)) {}
};

TEST_F(NativeUnauthenticatedTimeout, ClientsAreRejectedAtTheFirstWrongByte) {
  std::int64_t count = 0;
  for (const std::string& address : served.server->endpoints().addresses) {
    for (const std::string_view text :
         {std::string_view("GET / HTTP/1.1\r\nHost: plait\r\n\r\n"), std::string_view("\x16\x03\x01"),
          std::string_view("\0\0\0\0", 4), std::string_view("\x93PLAIT\r!")}) {
      const base::Descriptor socket = connect_raw(address);
      const auto begin = Clock::now();
      ASSERT_EQ(send_all(socket.number(), as_raw_bytes(text), test_deadline()), 0);
      EXPECT_EQ(receive_until_closed(socket), "");
      EXPECT_LT(Clock::now() - begin, seconds(4)) << "only a time limit ended it";
      EXPECT_TRUE(wait_for_rejected(++count));
    }
  }
  EXPECT_TRUE(served.service->peers.empty());
}

TEST_F(NativeUnauthenticated, ClientsThatSendTooLittleAreRejectedInTime) {
  const auto begin = Clock::now();
  const base::Descriptor silent = connect_raw(served.server->endpoints().addresses.front());
  const base::Descriptor half = connect_raw(served.server->endpoints().addresses.back());
  ASSERT_EQ(send_all(half.number(), as_raw_bytes(make_hello()).first(40), test_deadline()), 0);
  const base::Descriptor unproved = connect_raw(served.server->endpoints().addresses.back());
  ASSERT_EQ(send_all(unproved.number(), as_raw_bytes(make_hello()), test_deadline()), 0);
  EXPECT_EQ(receive_until_closed(silent), "");
  EXPECT_EQ(receive_until_closed(half), "");
  EXPECT_EQ(receive_until_closed(unproved).size(), sizeof(Hello) + sizeof(Proof));
  EXPECT_GE(Clock::now() - begin, milliseconds(290));
  EXPECT_LT(Clock::now() - begin, seconds(8));
  EXPECT_TRUE(wait_for_rejected(3));
  EXPECT_TRUE(served.service->peers.empty());
}

TEST_F(NativeUnauthenticated, ClientsWithAnotherKeyGetAnError) {
  for (const std::string_view carrier : {"local:", "tcp:127."}) {
    const std::string error =
        catch_error([&] { Link::connect(served.endpoints_by(carrier), Key::random(), test_deadline()); });
    EXPECT_TRUE(error.starts_with(std::to_string(EACCES))) << error;
    EXPECT_NE(error.find("another key"), std::string::npos) << error;
  }
  EXPECT_TRUE(wait_for_rejected(2));
}

TEST_F(NativeUnauthenticated, ProofsOfTheServerAreNotAccepted) {
  // The server's proof sent back, its proof from the previous connection, and a proof of zeros.
  Bytes last;
  for (std::size_t attempt = 0; attempt < 3; ++attempt) {
    const base::Descriptor socket = connect_raw(served.server->endpoints().addresses.front());
    ASSERT_EQ(send_all(socket.number(), as_raw_bytes(make_hello()), test_deadline()), 0);
    Bytes answer(sizeof(Hello) + sizeof(Proof));
    ASSERT_EQ(receive_all(socket.number(), answer, test_deadline()), 0);
    const auto server_proof = std::span(answer).subspan(sizeof(Hello));
    const Bytes zeros(sizeof(Proof));
    const std::vector<std::span<const std::byte>> proofs{server_proof, last, zeros};
    ASSERT_EQ(send_all(socket.number(), proofs[attempt], test_deadline()), 0);
    EXPECT_EQ(receive_until_closed(socket), "");
    last.assign(server_proof.begin(), server_proof.end());
  }
  EXPECT_TRUE(wait_for_rejected(3));
  EXPECT_TRUE(served.service->peers.empty());
}

TEST_F(NativeUnauthenticated, AHandshakeWithTheKeyIsAccepted) {
  const base::Descriptor socket = connect_raw(served.server->endpoints().addresses.front());
  const Hello client_hello = make_hello();
  ASSERT_EQ(send_all(socket.number(), as_raw_bytes(client_hello), test_deadline()), 0);
  Hello server_hello;
  Proof proof;
  ASSERT_EQ(receive_all(socket.number(), std::as_writable_bytes(std::span(&server_hello, 1)), test_deadline()), 0);
  ASSERT_EQ(receive_all(socket.number(), proof, test_deadline()), 0);
  EXPECT_TRUE(are_equal(proof, prove(served.key, Role::kServer, client_hello, server_hello)));
  EXPECT_FALSE(are_equal(proof, prove(served.key, Role::kClient, client_hello, server_hello)));
  ASSERT_EQ(send_all(socket.number(), prove(served.key, Role::kClient, client_hello, server_hello), test_deadline()),
            0);
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->peers.size() == 1; }));
  // A frame that exceeds the maximum length.
  const FrameHead head{1, 0, 0, kMaxReceive + 1};
  ASSERT_EQ(send_all(socket.number(), std::as_bytes(std::span(&head, 1)), test_deadline()), 0);
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 1; }));
  EXPECT_NE(served.service->reasons[0].find("longer"), std::string::npos);
  EXPECT_EQ(served.server->rejected(), 0);
}

TEST_F(NativeUnauthenticated, ClientsOfOtherVersionsGetTheServersHello) {
  std::int64_t count = 0;
  for (int changed_field = 0; changed_field < 3; ++changed_field) {
    Hello other = make_hello();
    if (changed_field == 0) other.version[0] = 9;
    if (changed_field == 1)
      std::reverse(reinterpret_cast<char*>(&other.order), reinterpret_cast<char*>(&other.order) + 4);
    if (changed_field == 2) other.frame_head_bytes = 32;
    const base::Descriptor socket = connect_raw(served.server->endpoints().addresses.front());
    ASSERT_EQ(send_all(socket.number(), as_raw_bytes(other), test_deadline()), 0);
    const std::string answer = receive_until_closed(socket);
    ASSERT_EQ(answer.size(), sizeof(Hello) + sizeof(Proof));
    Hello server_hello;
    std::memcpy(&server_hello, answer.data(), sizeof server_hello);
    EXPECT_EQ(find_fault(server_hello), HelloFault::kNone);
    EXPECT_EQ(answer.substr(sizeof(Hello)),
              std::string(sizeof(Proof), '\0'));  // no proof for a client of another version
    EXPECT_TRUE(wait_for_rejected(++count));
  }
}

/// A server that is not Plait: it accepts one connection and sends `answer_text` to it.
class FalseServer {
 public:
  explicit FalseServer(std::string answer_text) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof any;
    EXPECT_EQ(::bind(listener_.number(), reinterpret_cast<sockaddr*>(&any), length), 0);
    EXPECT_EQ(::listen(listener_.number(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&any), &length), 0);
    endpoints = own_host();
    endpoints.addresses.push_back("tcp:127.0.0.1:" + std::to_string(ntohs(any.sin_port)));
    thread_ = std::thread([this, answer_text] {
      const base::Descriptor socket(::accept(listener_.number(), nullptr, nullptr));
      Hello hello;
      receive_all(socket.number(), std::as_writable_bytes(std::span(&hello, 1)), test_deadline());
      send_all(socket.number(), as_raw_bytes(answer_text), test_deadline());
      char byte = 0;
      receive_all(socket.number(), std::as_writable_bytes(std::span(&byte, 1)), test_deadline());
    });
  }
  ~FalseServer() { thread_.join(); }

  Endpoints endpoints;

 private:
  base::Descriptor listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::thread thread_;
};

/// Returns the error of connecting to a server that sends `answer_text`.
std::string error_from(std::string answer_text) {
  const FalseServer server(std::move(answer_text));
  return catch_error([&] { Link::connect(server.endpoints, Key::random(), in(milliseconds(400))); });
}

std::string to_text(const Hello& hello) { return {reinterpret_cast<const char*>(&hello), sizeof hello}; }

TEST(NativeFalseServers, FailTheClient) {
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

TEST_F(NativeUnauthenticated, ManyClientsDoNotDisturbAuthenticatedOnes) {
  answer_by_echo();
  const auto link = served.connect("tcp:127.");
  std::vector<base::Descriptor> connections;
  const std::string address = served.endpoints_by("tcp:127.").addresses.front();
  const std::string local = served.endpoints_by("local:").addresses.front();
  for (int i = 0; i < 200; ++i) {
    connections.push_back(connect_raw(i % 2 == 0 ? address : local));
    if (i % 3 == 0) (void)send_all(connections.back().number(), as_raw_bytes("rubbish"), test_deadline());
    if (i % 3 == 1) (void)send_all(connections.back().number(), as_raw_bytes(make_hello()).first(30), test_deadline());
    if (i % 20 == 0) expect_service(*link);
  }
  // A client that connects after all of them is accepted before their time limit ends.
  const auto begin = Clock::now();
  const auto late = served.connect("local:");
  expect_service(*late);
  EXPECT_LT(Clock::now() - begin, seconds(8));
  expect_service(*link);
  EXPECT_TRUE(wait_for_rejected(200));
  EXPECT_EQ(served.service->peers.size(), 2U);
}

}  // namespace
}  // namespace plait::transport::native
