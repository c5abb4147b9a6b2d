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
#include <vector>

#include "base/descriptor.hpp"
#include "base/process.hpp"
#include "transport/active.hpp"
#include "transport/losses.hpp"
#include "transport/native/active/callee.hpp"
#include "transport/native/active/caller.hpp"
#include "transport/native/active/connection_attempt.hpp"
#include "transport/native/active/peer_events.hpp"
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
  void look_until(base::FunctionRef<bool()> done) override;
  void take(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) override;
  void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) override;
  void refuse(const Arrival& arrival, const CallFailure& failure) override;
  void stop() noexcept override;
  /// Of all ends of this process, where the program ends.
  static void stop_all();

 private:
  /// What the server calls.
  class Taker;
  /// What looks for answers where nobody waits for them.
  class Answers;

  void claim();
  void finish() noexcept;
  static CallFailure stopped();
  Caller* find_caller(int rank);
  std::shared_ptr<Callee> callee_of(int rank);
  std::vector<Caller*> callers();
  void look(bool handler);

  // On the server's thread, all of these but heard_of_loss().
  void taken(base::Descriptor socket, bool near);
  Clock::time_point look_at_clock(Clock::time_point now);
  void end_all();
  bool introduced(const std::shared_ptr<Callee>& callee, int rank) override;
  void ended(const Callee* callee, int rank, bool took_leave) override;
  void heard_of_loss(int lost, int from) noexcept override;
  void connect(int rank);
  void attempted(int rank, ConnectionAttempt& attempt);
  bool tries_again(int rank);
  void connect_again(Clock::time_point now);
  void connected(int rank, ConnectionAttempt& attempt);
  void probe();
  void watch_others();
  void peer_gone(int rank, bool took_leave);
  void peer_lost(int rank);
  void look_for_silence();
  bool any_far();

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

  std::mutex mutex_;  // of what follows
  bool stopped_ = false;
  std::map<int, std::unique_ptr<Caller>> callers_;  // which stay
  std::map<int, std::shared_ptr<Callee>> callees_;

  // Of the server's thread.
  bool over_ = false;
  std::set<std::shared_ptr<Callee>> unknown_;  // of which rank, as yet
  std::map<int, std::shared_ptr<ConnectionAttempt>> attempts_;
  /// Whose process has ended a connection before it was to serve this one: when it is tried again, how often it has been.
  struct Again {
    Clock::time_point when;
    int tries = 0;
    bool waits = false;
  };
  std::map<int, Again> again_;
  std::set<int> doubted_;  // who do not answer, and have connections with this process
  std::set<int> gone_;
  std::set<int> lost_;
  bool led_away_ = false;  // whether a socket of this process has led to another host
  Clock::time_point silence_{};
};

}  // namespace plait::transport::native
