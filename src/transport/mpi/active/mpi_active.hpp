/// One process's end for active messages over MPI: what its parts share.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "transport/active.hpp"
#include "transport/connections/wake_ups.hpp"
#include "transport/mpi/active/operations.hpp"
#include "transport/mpi/liveness/losses.hpp"
#include "transport/mpi/tags.hpp"

namespace plait::transport::mpi {

/// Above so many bytes MPI may need both sides to move a message.
inline constexpr std::size_t kLarge = 4096;

using connections::Clock;
using connections::Reach;
using connections::WakeUps;
using connections::Woken;

struct WireHead {
  std::int64_t slot = 0;
  std::int64_t payload = 0;
  std::int64_t room = 0;
  CallHead head{};
};

struct WireFailure {
  std::int32_t kind = 0;
  std::int32_t code = 0;
  std::int32_t length = 0;
  std::array<char, 2036> text{};
};

/// A call under way.
struct PendingCall {
  explicit PendingCall(Call of) : call(std::move(of)) {}
  Call call;
  WireHead wire;
  WireFailure failure;
  std::byte answered{};  // where the call has no room
  int parts = 0;         // operations that have not ended
  bool failed = false;
  CallFailure why;
};

/// The calls to one worker.
struct PeerQueue {
  /// One that has gone is given up in steps, in this order.
  enum class Stage : std::uint8_t {
    kOpen,       ///< it has not gone
    kLingering,  ///< what it sent may still come
    kCancelled,  ///< what MPI has not done has been cancelled, and ends by itself as a rule
    kOver,       ///< nothing is under way any more
  };
  bool gone() const { return stage != Stage::kOpen; }

  std::uint32_t slots = 0;  // that are taken, a bit each
  std::deque<std::shared_ptr<PendingCall>> waiting;
  Stage stage = Stage::kOpen;
  Clock::time_point since;  // when it was found gone
};

class MpiActive : public Active {
 public:
  MpiActive(MPI_Comm everyone, std::shared_ptr<CallService> service, std::shared_ptr<Losses> losses);
  ~MpiActive() override { stop(); }
  MpiActive(const MpiActive&) = delete;
  MpiActive& operator=(const MpiActive&) = delete;

  void call(Call call) override;
  bool poll() override { return look(false); }
  void take(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) override;
  void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) override;
  void refuse(const Arrival& arrival, const CallFailure& failure) override;
  void rest() noexcept override;
  void wake() noexcept override;
  void stop() noexcept override;

 private:
  struct Task {
    std::function<void(const Ended&)> done;
    Ended how;
  };

  /// Under the lock.
  bool can_send(int to) const { return !queues_[static_cast<std::size_t>(to)].gone() && wake_ups_->there(to); }
  static CallFailure gone(int worker);
  static CallFailure stopped();
  void take_heads(std::vector<Operations::Done>& ended);
  void start_waiting(int to, std::vector<std::shared_ptr<PendingCall>>& failed);
  void begin(const std::shared_ptr<PendingCall>& pending, int slot);
  void end_part(const std::shared_ptr<PendingCall>& pending, const Ended& how, bool is_answer);
  void finish(const std::shared_ptr<PendingCall>& pending);
  bool look(bool handler);
  bool run_tasks();
  bool has_tasks();
  void dispatch(std::vector<Operations::Done> ended, bool handler);
  void run();
  /// The handler calls MPI no more, where nothing is under way.  Returns whether that is so.
  bool begin_rest();
  /// Waits for a call, or for wake().
  void keep_resting();
  void peer_gone(int peer, bool took_leave);
  void peer_reached(int peer);
  void watch_others();
  void give_up_gone();
  void heard(bool large) {
    owed_.fetch_sub(1);
    if (large) moved();
  }
  /// A large message moves, or has ended.
  void moved() { last_large_ = Clock::now().time_since_epoch().count(); }

  MPI_Comm comm_;  // the transport's, which outlives this
  int rank_ = 0;
  int size_ = 1;
  int most_slots_ = kMostSlots;
  std::shared_ptr<CallService> service_;
  std::shared_ptr<Losses> losses_;
  std::unique_ptr<WakeUps> wake_ups_;

  std::mutex mutex_;  // of all calls of MPI, and of what follows
  Operations operations_;
  std::vector<PeerQueue> queues_;
  bool stopped_ = false;
  bool resting_ = false;  // nobody looks
  std::condition_variable rested_;

  std::mutex tasks_mutex_;
  std::deque<Task> tasks_;  // for the handler

  std::atomic<int> owed_{0};  // wake-ups less messages: what is known to be on its way
  std::atomic<Clock::rep> last_large_{0};
  std::atomic<bool> ending_{false};
  std::atomic<bool> idle_{true};  // whether it is to rest
  std::set<int> leaving_;         // of the handler: those that have gone, until they are given up
  std::thread thread_;
};

}  // namespace plait::transport::mpi
