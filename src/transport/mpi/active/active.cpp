#include "transport/mpi/active/active.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <utility>

#include "base/process.hpp"
#include "base/text.hpp"
#include "base/wait/patiently.hpp"
#include "transport/ending.hpp"
#include "transport/mpi/active/mpi_active.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// While something moves the handler looks without sleeping for so long after it last found anything ...
constexpr microseconds kAwake{50};
/// ... then after naps, each twice as long as the one before, up to this long while something moves, or at all.
constexpr microseconds kFirstNap{50};
constexpr microseconds kMovingNap{400};
constexpr microseconds kLongestNap{20000};
/// Wake-ups that announce what does not come are forgotten after so long.
constexpr milliseconds kOwedFor{20};
/// Large messages need both sides to look before they get on, so both do for so long after one was last heard of: one
/// that takes longer goes over a link that the longest naps keep busy.
constexpr milliseconds kLargeFor{250};
/// What a peer sent before it left may still be on its way.
constexpr milliseconds kGrace{200};
constexpr milliseconds kCancelling{500};
/// How long the end of MPI waits for threads that stop.
constexpr milliseconds kOthersStop{5000};
/// So many processes have sockets to all others while they wait for all.
constexpr int kMostWatched = 64;

}  // namespace

CallFailure MpiActive::gone(int worker) {
  return {ErrorKind::kSystem, EOWNERDEAD,
          base::text("rank ", worker, " has ended or left; nothing of it can be reached any more")};
}

CallFailure MpiActive::stopped() {
  return {ErrorKind::kSystem, ESHUTDOWN, "the communicator has been freed, or MPI has ended; finish requests before"};
}

namespace {

/// The ends that MPI_Finalize has to stop.
struct Registry {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<MpiActive*> running;
  int stopping = 0;
  bool watched = false;
};
Registry& registry() {
  static base::PerProcess<Registry> kept;
  return kept.get();
}

void stop_all() {
  std::set<MpiActive*> running;
  {
    const std::scoped_lock lock(registry().mutex);
    running = registry().running;
  }
  for (MpiActive* one : running) one->stop();
  // One that another thread stops may still be calling MPI.
  std::unique_lock lock(registry().mutex);
  registry().changed.wait_for(lock, kOthersStop, [] { return registry().stopping == 0; });
}

}  // namespace

MpiActive::MpiActive(MPI_Comm everyone, std::shared_ptr<CallService> service, std::shared_ptr<Losses> losses)
    : comm_(everyone), service_(std::move(service)), losses_(std::move(losses)) {
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  // What many callers together send to one worker unasked stays bounded.
  most_slots_ = std::clamp(1024 / size_, 2, kMostSlots);
  queues_.resize(static_cast<std::size_t>(size_));
  wake_ups_ = std::make_unique<WakeUps>(rank_, [this](const connections::Directory::Address& mine) {
    std::vector<connections::Directory::Address> all(static_cast<std::size_t>(size_));
    check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm_), "MPI_Allgather");
    return all;
  });
  wake_ups_->tell([this](int peer, bool took_leave) { peer_gone(peer, took_leave); },
                  [this](int peer) { peer_reached(peer); });
  thread_ = std::thread([this] { run(); });
  losses_->begin([this] { watch_others(); });
  const std::scoped_lock lock(registry().mutex);
  registry().running.insert(this);
  if (!std::exchange(registry().watched, true)) at_ending(EndingStage::kThreads, stop_all);
}

/// Under the lock.  Heads are probed for: receives posted for any rank lose messages under MPICH where ranks are
/// reached over a network (seen with 5.0.2 over UCX).
void MpiActive::take_heads(std::vector<Operations::Done>& ended) {
  while (true) {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, kHeadTag, comm_, &there, &message, &status) != MPI_SUCCESS || there == 0) return;
    WireHead wire;
    const bool good = MPI_Mrecv(&wire, sizeof wire, MPI_BYTE, &message, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (!good) continue;
    wake_ups_->heard_from(static_cast<int>(wire.slot >> 16));
    const auto arrived = [this, wire](const Ended&) {
      heard(false);
      Arrival arrival;
      arrival.id = static_cast<std::uint64_t>(wire.slot & 0xffff);
      arrival.from = static_cast<int>(wire.slot >> 16);
      arrival.head = wire.head;
      arrival.payload_bytes = wire.payload;
      arrival.room_bytes = wire.room;
      service_->arrived(*this, arrival);
    };
    base::patiently("take a call in",
                    [&] { ended.push_back({{.done = arrived, .on_handler = true}, {.good = true}}); });
  }
}

bool MpiActive::look(bool handler) {
  std::vector<Operations::Done> ended;
  {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (handler) {
      lock.lock();
    } else if (!lock.try_lock()) {
      return false;
    }
    if (stopped_ || resting_) return false;
    ended = operations_.test();
    take_heads(ended);
  }
  const bool any = !ended.empty();
  dispatch(std::move(ended), handler);
  return any;
}

void MpiActive::dispatch(std::vector<Operations::Done> ended, bool handler) {
  bool left = false;
  for (Operations::Done& one : ended) {
    if (handler || !one.operation.on_handler) {
      one.operation.done(one.how);
    } else {
      Task task{std::move(one.operation.done), one.how};
      base::patiently("hand a message on", [&] {
        const std::scoped_lock lock(tasks_mutex_);
        tasks_.push_back(std::move(task));
      });
      left = true;
    }
  }
  if (left) wake_ups_->wake_self();
}

bool MpiActive::run_tasks() {
  std::deque<Task> tasks;
  {
    const std::scoped_lock lock(tasks_mutex_);
    tasks.swap(tasks_);
  }
  for (const Task& task : tasks) task.done(task.how);
  return !tasks.empty();
}

/// All others, where they are few; else as many as find, together, whoever is lost.
void MpiActive::watch_others() {
  for (int other = 0; other < size_ && size_ <= kMostWatched; ++other)
    if (other != rank_) wake_ups_->connect(other);
  for (int bit = 1; bit < size_ && size_ > kMostWatched; bit *= 2)
    if ((rank_ ^ bit) < size_) wake_ups_->connect(rank_ ^ bit);
}

void MpiActive::peer_reached(int peer) {
  std::vector<std::shared_ptr<PendingCall>> failed;
  {
    const std::scoped_lock lock(mutex_);
    if (!stopped_ && !queues_[static_cast<std::size_t>(peer)].gone()) start_waiting(peer, failed);
  }
  for (const auto& one : failed) one->call.done(&one->why);
}

void MpiActive::peer_gone(int peer, bool took_leave) {
  if (!took_leave) losses_->record(peer);
  const std::scoped_lock lock(mutex_);
  PeerQueue& queue = queues_[static_cast<std::size_t>(peer)];
  if (queue.gone()) return;
  queue.stage = PeerQueue::Stage::kLingering;
  queue.since = Clock::now();
  leaving_.insert(peer);
}

/// Ends what has to do with workers that have left, in two steps: what they sent may come, and what is cancelled ends
/// by itself as a rule.
void MpiActive::give_up_gone() {
  for (auto peer = leaving_.begin(); peer != leaving_.end();) {
    std::vector<Operations::Done> ended;
    std::deque<std::shared_ptr<PendingCall>> waiting;
    bool over = false;
    {
      const std::scoped_lock lock(mutex_);
      PeerQueue& queue = queues_[static_cast<std::size_t>(*peer)];
      const auto passed = Clock::now() - queue.since;
      if (queue.stage == PeerQueue::Stage::kLingering && passed > kGrace) {
        queue.stage = PeerQueue::Stage::kCancelled;
        waiting.swap(queue.waiting);
        ended = operations_.give_up(*peer, false);
      } else if (queue.stage == PeerQueue::Stage::kCancelled && passed > kGrace + kCancelling) {
        queue.stage = PeerQueue::Stage::kOver;
        ended = operations_.give_up(*peer, true);
        over = true;
      }
    }
    const CallFailure why = gone(*peer);
    dispatch(std::move(ended), true);
    for (const auto& pending : waiting) pending->call.done(&why);
    if (over) service_->left(*peer);
    peer = over ? leaving_.erase(peer) : std::next(peer);
  }
}

void MpiActive::run() {
  // Signals are the program's: none is to be handled here, and a write past a limit returns its error.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  auto last = Clock::now();
  microseconds nap = kFirstNap;
  while (!ending_) {
    bool any = look(true);
    any = run_tasks() || any;
    const auto now = Clock::now();
    if (any) {
      last = now;
      nap = kFirstNap;
      continue;
    }
    if (!leaving_.empty()) give_up_gone();
    bool moving = false;
    {
      const std::scoped_lock lock(mutex_);
      moving = operations_.moving() ||
               (operations_.large() && now.time_since_epoch() - Clock::duration(last_large_) < kLargeFor);
    }
    if (now - last > kOwedFor) {
      owed_ = 0;
    } else {
      moving = moving || owed_ > 0;
    }
    if (moving && now - last < kAwake) continue;
    if (!moving && idle_ && begin_rest()) {
      keep_resting();
      last = Clock::now();
      nap = kFirstNap;
      continue;
    }
    const Woken woken = wake_ups_->wait(moving ? std::min(nap, kMovingNap) : nap);
    nap = std::min(2 * nap, kLongestNap);
    if (woken.all > 0) {
      owed_ += woken.all;
      if (woken.large) moved();
      last = Clock::now();
      nap = kFirstNap;
    }
  }
}

void MpiActive::stop() noexcept {
  {
    const std::scoped_lock lock(registry().mutex);
    if (registry().running.erase(this) == 0) return;
    ++registry().stopping;
  }
  losses_->end();
  ending_ = true;
  wake_ups_->wake_self();
  thread_.join();
  int ended = 0;
  const bool alive = MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
  std::vector<Operations::Done> left;
  std::vector<std::shared_ptr<PendingCall>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    if (alive) left = operations_.finish();
    for (PeerQueue& queue : queues_) {
      waiting.insert(waiting.end(), queue.waiting.begin(), queue.waiting.end());
      queue.waiting.clear();
    }
  }
  for (const Operations::Done& one : left) one.operation.done(one.how);
  run_tasks();
  const CallFailure why = stopped();
  for (const auto& pending : waiting) pending->call.done(&why);
  wake_ups_->close();
  const std::scoped_lock lock(registry().mutex);
  --registry().stopping;
  registry().changed.notify_all();
}

std::shared_ptr<Active> make_active(MPI_Comm everyone, std::shared_ptr<CallService> service,
                                    std::shared_ptr<Losses> losses) {
  return std::make_shared<MpiActive>(everyone, std::move(service), std::move(losses));
}

}  // namespace plait::transport::mpi
