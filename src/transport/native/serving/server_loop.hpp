/// The loop that the thread of a server runs.
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

/// threads  Only the thread of run(), except for rejected(), post() and the mailbox.
class ServerLoop : public EventLoop {
 public:
  /// The user of the connections: exactly one of the two is set.
  struct Users {
    std::shared_ptr<Service> service;
    std::shared_ptr<ConnectionTaker> taker;
  };
  struct Sockets {
    LocalListener local;
    TcpListener tcp;  ///< without a socket if there is no network
    /// Addresses of this host at which connections of other hosts are accepted; empty: all.
    std::vector<base::host::NetworkAddress> network;
  };

  /// errors  kSystem
  ServerLoop(const Key& key, Users users, const Server::Options& options, Sockets sockets);

  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }
  std::int64_t rejected() const { return rejected_; }
  /// Runs until Mailbox::stop() is called.
  void run();

  Watch register_handler(std::shared_ptr<EventHandler> handler) override;
  void unregister(const Watch& watch) override { handlers_.erase(watch.id()); }
  void set_timer(Clock::time_point time) override { taker_timer_ = std::min(taker_timer_, time); }
  bool post(std::function<void()> body) override { return mailbox_->post(std::move(body)); }

 private:
  using Peers = std::unordered_map<std::uint64_t, std::shared_ptr<OpenPeer>>;

  bool watch(int operation, int socket, std::uint64_t id, std::uint32_t events) const;
  int longest_sleep() const;
  void dispatch(std::uint64_t id, std::uint32_t events);
  void handle_requests();
  void accept_from(int listener, bool is_local);
  bool accept_one(int listener, bool is_local);
  bool is_on_accepted_network(int socket) const;
  /// Accepts no connections until `until`, or until an unauthenticated connection has ended.
  void pause_accepting(Clock::time_point until);
  void resume_accepting();
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
  base::Descriptor set_;  // the epoll set
  UnauthenticatedConnections unauthenticated_;
  Peers peers_;
  std::unordered_map<std::uint64_t, std::shared_ptr<EventHandler>> handlers_;
  std::uint64_t last_handler_;
  Clock::time_point taker_timer_ = Clock::time_point::max();
  std::vector<std::uint64_t> closing_;               // numbers of closing peers; has capacity for all peers
  std::vector<std::shared_ptr<OpenPeer>> flushing_;  // used within one call; has capacity for all peers
  int remote_peers_ = 0;                             // number of peers on other hosts
  Clock::time_point silent_hosts_checked_{};         // time of the last check
  std::uint64_t last_id_ = 15;  // of unauthenticated connections; smaller ids are those of listeners and the mailbox
  std::uint64_t last_number_ = 0;
  bool paused_ = false;
  Clock::time_point paused_until_{};
  std::atomic<std::int64_t> rejected_{0};
  std::unique_ptr<std::byte[]> buffer_;  // receive buffer that all peers share
};

}  // namespace plait::transport::native
