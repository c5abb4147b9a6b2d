/// The active messages (active_messages.hpp) of one process: calls to other ranks, and the service of calls from them.
///
/// Two processes have up to two connections, one for the calls of each.  At one end of a connection is a Caller, at the
/// other one a Callee.  All connections of a process belong to the thread of one Server.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/process.hpp"
#include "transport/active_messages.hpp"
#include "transport/losses.hpp"
#include "transport/native/active/callee.hpp"
#include "transport/native/active/caller.hpp"
#include "transport/native/active/connection_attempt.hpp"
#include "transport/native/active/peer_events.hpp"
#include "transport/native/active/peer_state.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/server.hpp"
#include "transport/transport.hpp"

namespace plait::transport::native {

/// One end of all connections of a communicator: that of this process.
class ActiveEnd : public ActiveMessages, public PeerEvents {
 public:
  ActiveEnd(std::shared_ptr<CallService> service, std::shared_ptr<Losses> losses)
      : service_(std::move(service)), losses_(std::move(losses)) {}
  ~ActiveEnd() override { stop(); }
  ActiveEnd(const ActiveEnd&) = delete;
  ActiveEnd& operator=(const ActiveEnd&) = delete;

  /// Starts the server, and exchanges addresses with all ranks.  Collective.
  void start(Transport& transport);

  void call(Call call) override;
  void cancel(const void* request, const CallFailure& why) noexcept override;
  void poll_answers_until(base::FunctionRef<bool()> done) override;
  void receive_payload(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) override;
  void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) override;
  void reject(const Arrival& arrival, const CallFailure& failure) override;
  void stop() noexcept override;
  /// Stops all ends of this process, when the program ends.
  static void stop_all();

 private:
  /// The callbacks of the server.
  class Taker;
  /// Handles answers while no thread waits for them.
  class Answers;
  /// The connections to one rank, which may be this process.
  struct PeerConnections {
    std::unique_ptr<Caller> caller;              // protected by mutex_; never reset
    std::shared_ptr<Callee> callee;              // protected by mutex_
    PeerRecord record;                           // only for the server's thread
    std::shared_ptr<ConnectionAttempt> attempt;  // only for the server's thread
  };
  /// The connections to all ranks.
  struct Connections {
    std::vector<Caller*> callers;
    std::vector<std::shared_ptr<Callee>> callees;
  };

  void claim_stop();
  void finish_stop() noexcept;
  static CallFailure make_stopped_failure();
  Caller* find_caller(int rank);
  std::shared_ptr<Callee> find_callee(int rank);
  void poll_answers(bool on_server_thread);

  // The functions below run on the server's thread, except for on_loss().  Events:
  void on_connection(base::Descriptor socket, bool is_local);
  Clock::time_point on_timer(Clock::time_point now);
  void end_all();
  bool on_introduced(const std::shared_ptr<Callee>& callee, int rank) override;
  void on_ended(const Callee* callee, int rank, bool has_taken_leave) override;
  void on_loss(int lost, int from) noexcept override;
  void on_attempt_ended(int rank, ConnectionAttempt& attempt);
  void probe();
  void watch_others();
  void check_silent_hosts();
  // Transitions:
  PeerTransition enter_next_state(int rank, PeerEvent event, Clock::time_point now);
  void carry_out(int rank, const PeerTransition& transition);
  void handle_event(int rank, PeerEvent event) { carry_out(rank, enter_next_state(rank, event, Clock::now())); }
  // Actions:
  void connect(int rank);
  void use_connection(int rank, ConnectionAttempt& attempt);
  void close_peer(int rank);
  void report_loss_to_all(int lost);
  // Lookups:
  PeerConnections& peer_connections(int rank);
  Caller* get_caller(int rank);
  std::vector<std::pair<int, PeerConnections*>> all_ranks();
  Connections connections();
  std::vector<int> lost_ranks();

  const base::Owner owner_;
  bool stopping_ = false;  // protected by the lock of RunningEnds
  bool finished_ = false;  // protected by the lock of RunningEnds
  const std::shared_ptr<CallService> service_;
  const std::shared_ptr<Losses> losses_;
  int rank_ = 0;
  int size_ = 1;
  int max_slots_ = Caller::kMaxSlots;
  Key key_;
  std::vector<Endpoints> endpoints_;
  base::Descriptor answers_;  // an epoll set of the connections on which answers arrive
  Watch answers_watch_;       // the registration of answers_ in the epoll set of the server's thread
  std::unique_ptr<Server> server_;
  std::shared_ptr<EventLoop> loop_;
  std::mutex polling_;  // held by the thread that polls for answers

  std::mutex mutex_;  // protects the two members below; not held while callbacks are called
  bool stopped_ = false;
  std::map<int, PeerConnections> ranks_;  // entries are never erased

  // Used only by the server's thread.
  bool has_ended_ = false;
  std::set<std::shared_ptr<Callee>> unidentified_;  // connections whose rank is not known yet
  bool has_reached_other_host_ = false;             // a socket of this process has reached another host
  Clock::time_point last_silence_check_{};
};

}  // namespace plait::transport::native
