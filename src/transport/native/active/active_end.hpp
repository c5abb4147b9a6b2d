/// One process's end for native active messages.
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
#include "transport/active.hpp"
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

class ActiveEnd : public Active, public PeerEvents {
 public:
  ActiveEnd(std::shared_ptr<CallService> service, std::shared_ptr<Losses> losses)
      : service_(std::move(service)), losses_(std::move(losses)) {}
  ~ActiveEnd() override { stop(); }
  ActiveEnd(const ActiveEnd&) = delete;
  ActiveEnd& operator=(const ActiveEnd&) = delete;

  /// Collective.
  void start(Transport& transport);

  void call(Call call) override;
  void cancel(const void* request, const CallFailure& why) noexcept override;
  void look_until(base::FunctionRef<bool()> done) override;
  void take(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) override;
  void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) override;
  void reject(const Arrival& arrival, const CallFailure& failure) override;
  void stop() noexcept override;
  /// Of all ends of this process, where the program ends.
  static void stop_all();

 private:
  /// What the server calls.
  class Taker;
  /// What looks for answers where nobody waits for them.
  class Answers;
  /// What this process has of a rank, itself among them.
  struct OfRank {
    std::unique_ptr<Caller> caller;  // under the lock, these two; the first one stays
    std::shared_ptr<Callee> callee;
    PeerRecord record;  // of the server's thread, these two
    std::shared_ptr<ConnectionAttempt> attempt;
  };
  /// What connections lead to all ranks.
  struct Connections {
    std::vector<Caller*> calling;
    std::vector<std::shared_ptr<Callee>> served;
  };

  void claim();
  void finish() noexcept;
  static CallFailure stopped();
  Caller* find_caller(int rank);
  std::shared_ptr<Callee> callee_of(int rank);
  void look(bool handler);

  // On the server's thread, all of these but heard_of_loss(): what happens,
  void taken(base::Descriptor socket, bool near);
  Clock::time_point on_timer(Clock::time_point now);
  void end_all();
  bool introduced(const std::shared_ptr<Callee>& callee, int rank) override;
  void ended(const Callee* callee, int rank, bool took_leave) override;
  void heard_of_loss(int lost, int from) noexcept override;
  void attempted(int rank, ConnectionAttempt& attempt);
  void probe();
  void watch_others();
  void check_silent_hosts();
  // what follows from it,
  PeerTransition decide(int rank, PeerEvent event, Clock::time_point now);
  void carry_out(int rank, const PeerTransition& step);
  void apply(int rank, PeerEvent event) { carry_out(rank, decide(rank, event, Clock::now())); }
  // what is done then,
  void connect(int rank);
  void call_by(int rank, ConnectionAttempt& attempt);
  void end_peer(int rank);
  void tell_all_of_loss(int lost);
  // and what is known.
  OfRank& of(int rank);
  Caller* caller_of(int rank);
  std::vector<std::pair<int, OfRank*>> all_ranks();
  Connections connections();
  std::vector<int> lost();

  const base::Owner owner_;
  bool stopping_ = false;  // under the lock of all running ends, these two
  bool finished_ = false;
  const std::shared_ptr<CallService> service_;
  const std::shared_ptr<Losses> losses_;
  int rank_ = 0;
  int size_ = 1;
  int most_slots_ = Caller::kMostSlots;
  Key key_;
  std::vector<Endpoints> endpoints_;
  base::Descriptor answers_;  // a set of epoll: the connections that this process calls by
  Watch answers_watch_;       // where the server's thread sleeps
  std::unique_ptr<Server> server_;
  std::shared_ptr<EventLoop> loop_;
  std::mutex looking_;  // who looks for answers himself

  std::mutex mutex_;  // of these two; nothing that calls out is called under it
  bool stopped_ = false;
  std::map<int, OfRank> ranks_;  // what is in it stays

  // Of the server's thread.
  bool over_ = false;
  std::set<std::shared_ptr<Callee>> unknown_;  // of which rank, as yet
  bool led_away_ = false;                      // whether a socket of this process has led to another host
  Clock::time_point silence_{};
};

}  // namespace plait::transport::native
