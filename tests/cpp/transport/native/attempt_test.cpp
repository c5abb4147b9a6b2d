// Connecting to a server that the test implements itself, message by message.
#include "transport/native/attempt.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <span>
#include <string>
#include <thread>

#include "base/host/sockets.hpp"
#include "native_case.hpp"
#include "transport/native/hello.hpp"
#include "transport/native/waiting.hpp"

namespace plait::transport::native {
namespace {

/// Authenticates itself to `callers` clients, one after the other, and drops each. Accepts the last one if
/// `accepts_last`.
class AuthenticatingServer {
 public:
  AuthenticatingServer(const Key& key, int callers, bool accepts_last) : key_(key) {
    const base::host::LocalAddress address(name);
    EXPECT_EQ(::bind(socket_.number(), address.name(), address.length), 0);
    EXPECT_EQ(::listen(socket_.number(), 8), 0);
    thread_ = std::thread([this, callers, accepts_last] {
      for (int caller = 1; caller <= callers; ++caller) serve(caller == callers && accepts_last);
    });
  }
  ~AuthenticatingServer() { thread_.join(); }
  AuthenticatingServer(const AuthenticatingServer&) = delete;
  AuthenticatingServer& operator=(const AuthenticatingServer&) = delete;

  const std::string name = "plait-attempt-" + std::to_string(::getpid());

 private:
  void serve(bool accept) {
    base::Descriptor caller(::accept(socket_.number(), nullptr, nullptr));
    ServerHandshake handshake(key_);
    for (auto status = ServerHandshake::Status::kMore; status != ServerHandshake::Status::kProved;) {
      const auto buffer = handshake.input_space();
      ASSERT_EQ(receive_all(caller.number(), buffer, test_deadline()), 0);
      status = handshake.process_input(buffer.size());
      if (status == ServerHandshake::Status::kAnswer) {
        ASSERT_EQ(send_all(caller.number(), handshake.answer(), test_deadline()), 0);
      }
    }
    if (!accept) return;
    ASSERT_EQ(send_all(caller.number(), std::as_bytes(std::span(kAcceptance)), test_deadline()), 0);
    accepted_ = std::move(caller);
  }

  const Key key_;
  base::Descriptor socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  base::Descriptor accepted_;
  std::thread thread_;
};

/// A server with many unauthenticated connections drops clients that authenticate themselves late.
TEST(NativeAttempt, RetriesIfAServerDropsIt) {
  const Key key = Key::random();
  const AuthenticatingServer server(key, 3, /*accepts_last=*/true);
  const AttemptResult result = connect_to_server(Address{Address::Local{server.name}}, key, test_deadline());
  EXPECT_GE(result.socket.number(), 0) << result.why;
}

TEST(NativeAttempt, FailsIfAServerNeverAccepts) {
  const Key key = Key::random();
  const AuthenticatingServer server(key, 10, /*accepts_last=*/false);
  const AttemptResult result = connect_to_server(Address{Address::Local{server.name}}, key, test_deadline());
  EXPECT_LT(result.socket.number(), 0);
  EXPECT_EQ(result.code, ECONNRESET);
  EXPECT_TRUE(result.was_closed);
  EXPECT_NE(result.why.find("has too many callers, or has just ended"), std::string::npos) << result.why;
}

}  // namespace
}  // namespace plait::transport::native
