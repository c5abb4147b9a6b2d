/// What the thread of a server does.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/host/host.hpp"
#include "transport/native/event_loop.hpp"
#include "transport/native/server.hpp"
#include "transport/native/serving/listeners.hpp"
#include "transport/native/serving/mailbox.hpp"
#include "transport/native/serving/peer.hpp"
#include "transport/native/serving/unauthenticated.hpp"

namespace plait::transport::native {

/// threads  One, that of run(), but for rejected(), post() and the mailbox.
class ServerLoop : public EventLoop {
 public:
  /// Whom connections are for: one of the two.
  struct Users {
    std::shared_ptr<Service> service;
    std::shared_ptr<ConnectionTaker> taker;
  };
  struct Sockets {
    LocalListener local;
    TcpListener tcp;  ///< none: without a socket
    /// On which connections of other hosts may come in; empty: all.
    std::vector<base::host::NetworkAddress> network;
  };

  /// errors  kSystem
  ServerLoop(const Key& key, Users users, const Server::Options& options, Sockets sockets);

  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }
  std::int64_t rejected() const { return rejected_; }
  /// Until the mailbox is told to stop.
  void run();

  Watch handle(std::shared_ptr<EventHandler> handler) override;
  void forget(const Watch& watch) override { handlers_.erase(watch.id()); }
  void set_timer(Clock::time_point time) override { taker_timer_ = std::min(taker_timer_, time); }
  bool post(std::function<void()> body) override { return mailbox_->post(std::move(body)); }

 private:
  using Peers = std::unordered_map<std::uint64_t, std::shared_ptr<OpenPeer>>;

  bool watch(int operation, int socket, std::uint64_t id, std::uint32_t events) const;
  int longest_sleep() const;
  void handle(std::uint64_t id, std::uint32_t events);
  void read_mail();
  void accept_from(int listener, bool local);
  bool accept_one(int listener, bool local);
  bool comes_in_rightly(int socket) const;
  /// Until then, or until a stranger has gone.
  void pause(Clock::time_point until);
  void listen();
  void receive_handshake(std::uint64_t id);
  void open(UnauthenticatedConnections::Entry connection);
  void handle_peer(std::uint64_t number, std::uint32_t events);
  void flush_peer(OpenPeer& peer);
  void end(std::uint64_t number, const char* why);
  void check_deadlines();
  void check_silent_hosts(Clock::time_point now);
  void end_all();

  const Users users_;
  Sockets sockets_;
  const std::size_t max_queued_;
  const std::shared_ptr<Mailbox> mailbox_;
  base::Descriptor set_;
  UnauthenticatedConnections unauthenticated_;
  Peers peers_;
  std::unordered_map<std::uint64_t, std::shared_ptr<EventHandler>> handlers_;
  std::uint64_t last_handler_;
  Clock::time_point taker_timer_ = Clock::time_point::max();
  std::vector<std::uint64_t> closing_;               // has room for all peers, as the next one
  std::vector<std::shared_ptr<OpenPeer>> flushing_;  // used within one call
  int distant_ = 0;                                  // peers of other hosts
  Clock::time_point silent_hosts_checked_{};         // looked for last
  std::uint64_t last_id_ = 15;                       // of strangers; those below are of listeners and the mailbox
  std::uint64_t last_number_ = 0;
  bool paused_ = false;
  Clock::time_point paused_until_{};
  std::atomic<std::int64_t> rejected_{0};
  std::unique_ptr<std::byte[]> common_;  // what is received comes here first
};

}  // namespace plait::transport::native
