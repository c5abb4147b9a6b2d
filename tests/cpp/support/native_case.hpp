/// Servers for connections between programs, and a service that records what it receives.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/error.hpp"
#include "transport/native/link.hpp"
#include "transport/native/server.hpp"

namespace plait::transport::native {

inline Clock::time_point in(std::chrono::milliseconds time) { return Clock::now() + time; }
/// Returns the deadline of operations that are expected to succeed.
inline Clock::time_point test_deadline() { return in(std::chrono::seconds(20)); }

/// Records all events, and runs the test's callback.
class RecordingService : public Service {
 public:
  void opened(const std::shared_ptr<Peer>& peer) override {
    update([&] { peers.push_back(peer); });
  }
  void received(const std::shared_ptr<Peer>& peer, const FrameHead& head, std::span<const std::byte> body) override {
    if (on_frame) on_frame(peer, head, body);
    update([&] { ++frames; });
  }
  void closed(const std::shared_ptr<Peer>& peer, const std::string& why) override {
    (void)peer;
    update([&] { reasons.push_back(why); });
  }

  /// Waits until a condition holds. Returns false if it does not hold within the time limit.
  template <typename Condition>
  bool wait_until(Condition&& condition, std::chrono::milliseconds time_limit = std::chrono::seconds(20)) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time_limit, condition);
  }
  /// Changes the state that wait_until() checks, and wakes it.
  template <typename Change>
  void update(Change&& change) {
    {
      const std::scoped_lock lock(mutex);
      change();
    }
    changed.notify_all();
  }

  std::function<void(const std::shared_ptr<Peer>&, const FrameHead&, std::span<const std::byte>)> on_frame;

  std::mutex mutex;  // protects the members below
  std::condition_variable changed;
  std::vector<std::shared_ptr<Peer>> peers;
  std::vector<std::string> reasons;
  int frames = 0;
};

/// A server in this process, with its key and the service that records its connections.
struct TestServer {
  explicit TestServer(const std::string& network = "lo") {
    Server::Options options;
    options.network = network;
    start(options);
  }
  explicit TestServer(const Server::Options& options) { start(options); }
  void start(const Server::Options& options) { server = Server::start(key, service, options); }

  /// Returns the addresses of the server that begin with `carrier`, such as `local:` or `tcp:`.
  Endpoints endpoints_by(std::string_view carrier) const {
    Endpoints selected = server->endpoints();
    std::erase_if(selected.addresses, [&](const std::string& address) { return !address.starts_with(carrier); });
    return selected;
  }
  std::unique_ptr<Link> connect(std::string_view carrier = "local:") const {
    return Link::connect(endpoints_by(carrier), key, test_deadline());
  }
  /// Waits for a connection and returns the newest one.
  std::shared_ptr<Peer> peer() {
    EXPECT_TRUE(service->wait_until([&] { return !service->peers.empty(); }));
    const std::scoped_lock lock(service->mutex);
    return service->peers.empty() ? nullptr : service->peers.back();
  }

  const Key key = Key::random();
  const std::shared_ptr<RecordingService> service = std::make_shared<RecordingService>();
  std::unique_ptr<Server> server;
};

using Bytes = std::vector<std::byte>;

/// Returns a byte that depends on the offset and the seed.
inline std::byte byte_at(std::uint64_t offset, unsigned seed = 0) {
  return static_cast<std::byte>((offset * 2654435761U + (offset >> 13U) + seed * 40503U) >> 7U);
}
inline Bytes make_bytes(std::size_t count, unsigned seed = 0) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = byte_at(i, seed);
  return bytes;
}

inline void send(Link& link, const FrameHead& head, std::span<const std::byte> body) {
  link.send(head, std::span(&body, 1), test_deadline());
}
inline void receive_into(Link& link, std::span<std::byte> into) {
  link.receive_body(std::span(&into, 1), test_deadline());
}
inline Bytes receive_body(Link& link, const FrameHead& head) {
  Bytes body(head.bytes);
  receive_into(link, body);
  return body;
}

/// Runs `body` and returns the code and the text of its error: `104 the connection ...`.
template <typename Body>
std::string catch_error(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::to_string(error.system_code()) + ' ' + error.what();
  }
  return "no error";
}

}  // namespace plait::transport::native
