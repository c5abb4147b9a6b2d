#include "transport/mpi/active.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "transport/mpi/check.hpp"
#include "transport/mpi/doorbells.hpp"
#include "transport/mpi/operations.hpp"

namespace plait::transport::mpi {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Tags: a call under way has one of at most kMostPlaces places for its answer, its payload and its failure.
constexpr int kMostPlaces = 32;
constexpr int kHeadTag = 1;
constexpr int kAnswerTag = 100;
constexpr int kPayloadTag = 200;
constexpr int kFailureTag = 300;
/// Receives that wait for calls.
constexpr int kHeadsAwaited = 8;
/// Above so many bytes MPI may need both sides to move a message.
constexpr std::size_t kLarge = 4096;

/// While something moves the handler looks without sleeping for so long after it last found anything ...
constexpr microseconds kAwake{50};
/// ... then after naps, each twice as long as the one before, up to this long while something moves, or at all.
constexpr microseconds kFirstNap{50};
constexpr microseconds kMovingNap{400};
constexpr microseconds kLongestNap{20000};
/// Bells that announce what does not come are forgotten after so long.
constexpr milliseconds kOwedFor{20};
/// What a peer sent before it left may still be on its way.
constexpr milliseconds kGrace{200};
constexpr milliseconds kCancelling{500};

struct WireHead {
  std::int64_t place = 0;
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

std::uint64_t id_of(int place) { return static_cast<std::uint64_t>(place); }
int place_of(const Arrival& arrival) { return static_cast<int>(arrival.id); }

/// A call under way.
struct Flight {
  explicit Flight(Call of) : call(std::move(of)) {}
  Call call;
  WireHead wire;
  WireFailure failure;
  std::byte answered{};  // where the call has no room
  int parts = 0;         // operations that have not ended
  bool failed = false;
  CallFailure why;
};

/// The calls to one worker.
struct Lane {
  std::uint32_t places = 0;  // that are taken, a bit each
  std::deque<std::shared_ptr<Flight>> waiting;
  bool gone = false;
  int stage = 0;  // of giving up
  Clock::time_point since;
};

}  // namespace

class MpiActive : public Active {
 public:
  MpiActive(MPI_Comm everyone, std::shared_ptr<CallService> service);
  ~MpiActive() override { stop(); }
  MpiActive(const MpiActive&) = delete;
  MpiActive& operator=(const MpiActive&) = delete;

  void call(Call call) override;
  bool poll() override { return look(false); }
  void take(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) override;
  void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) override;
  void refuse(const Arrival& arrival, const CallFailure& failure) override;
  void stop() noexcept override;

 private:
  struct Task {
    std::function<void(const Ended&)> done;
    Ended how;
  };

  CallFailure gone(int worker) const {
    return {ErrorKind::kSystem, EOWNERDEAD,
            base::text("rank ", worker, " has ended or left; nothing of it can be reached any more")};
  }
  static CallFailure stopped() {
    return {ErrorKind::kSystem, ESHUTDOWN, "the communicator has been freed, or MPI has ended; finish requests before"};
  }
  void await_head();
  void start_waiting(int to, std::vector<std::shared_ptr<Flight>>& failed);
  void begin(const std::shared_ptr<Flight>& flight, int place);
  void end_part(const std::shared_ptr<Flight>& flight, const Ended& how, bool is_answer);
  void finish(const std::shared_ptr<Flight>& flight);
  bool look(bool handler);
  bool run_tasks();
  void dispatch(std::vector<Operations::Done> ended, bool handler);
  void run();
  void peer_gone(int peer);
  void give_up_gone();
  void heard() { owed_.fetch_sub(1); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int most_places_ = kMostPlaces;
  std::shared_ptr<CallService> service_;
  std::unique_ptr<Doorbells> bells_;

  std::mutex mutex_;  // of all calls of MPI, and of what follows
  Operations operations_;
  std::vector<Lane> lanes_;
  bool stopped_ = false;

  std::mutex tasks_mutex_;
  std::deque<Task> tasks_;  // for the handler

  std::atomic<int> owed_{0};  // bells less messages: what is known to be on its way
  std::atomic<bool> ending_{false};
  std::set<int> leaving_;  // of the handler
  std::thread thread_;
};

namespace {

/// The ends that MPI_Finalize has to stop.
struct Registry {
  std::mutex mutex;
  std::set<MpiActive*> running;
  bool watched = false;
};
Registry& registry() {
  static auto* const kept = new Registry;
  return *kept;
}

int stop_all(MPI_Comm, int, void*, void*) {
  std::set<MpiActive*> running;
  {
    const std::scoped_lock lock(registry().mutex);
    running = registry().running;
  }
  for (MpiActive* one : running) one->stop();
  return MPI_SUCCESS;
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else, while all of MPI still works.
void watch_the_end() {
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, stop_all, &key, nullptr), "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  check(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

}  // namespace

MpiActive::MpiActive(MPI_Comm everyone, std::shared_ptr<CallService> service) : service_(std::move(service)) {
  check(MPI_Comm_dup(everyone, &comm_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  // What many callers together send to one worker unasked stays bounded.
  most_places_ = std::clamp(1024 / size_, 2, kMostPlaces);
  lanes_.resize(static_cast<std::size_t>(size_));
  bells_ = std::make_unique<Doorbells>(comm_);
  bells_->gone = [this](int peer) { peer_gone(peer); };
  for (int i = 0; i < kHeadsAwaited; ++i) await_head();
  thread_ = std::thread([this] { run(); });
  const std::scoped_lock lock(registry().mutex);
  registry().running.insert(this);
  if (!std::exchange(registry().watched, true)) watch_the_end();
}

void MpiActive::await_head() {
  auto wire = std::make_shared<std::pair<WireHead, MPI_Status>>();
  const std::scoped_lock lock(mutex_);
  if (stopped_) return;
  const auto arrived = [this, wire](const Ended& how) {
    if (!how.good) return;
    const WireHead head = wire->first;
    await_head();
    heard();
    Arrival arrival;
    arrival.id = id_of(static_cast<int>(head.place & 0xffff));
    arrival.from = static_cast<int>(head.place >> 16);
    arrival.head = head.head;
    arrival.payload_bytes = head.payload;
    arrival.room_bytes = head.room;
    service_->arrived(*this, arrival);
  };
  operations_.add(
      [&](MPI_Request* request) {
        return MPI_Irecv(&wire->first, sizeof(WireHead), MPI_BYTE, MPI_ANY_SOURCE, kHeadTag, comm_, request);
      },
      {arrived, -1, true, true, false});
}

void MpiActive::call(Call call) {
  const int to = call.to;
  auto flight = std::make_shared<Flight>(std::move(call));
  const bool there = bells_->connect(to);
  std::vector<std::shared_ptr<Flight>> failed;
  {
    const std::scoped_lock lock(mutex_);
    Lane& lane = lanes_[static_cast<std::size_t>(to)];
    if (stopped_ || lane.gone || !there) {
      flight->failed = true;
      flight->why = stopped_ ? stopped() : gone(to);
      failed.push_back(flight);
    } else {
      lane.waiting.push_back(flight);
      start_waiting(to, failed);
    }
  }
  for (const auto& one : failed) one->call.done(&one->why);
}

void MpiActive::start_waiting(int to, std::vector<std::shared_ptr<Flight>>& failed) {
  Lane& lane = lanes_[static_cast<std::size_t>(to)];
  while (!lane.waiting.empty()) {
    const int place = std::countr_one(lane.places);
    if (place >= most_places_) return;
    const auto flight = lane.waiting.front();
    lane.waiting.pop_front();
    begin(flight, place);
    if (flight->parts > 0) continue;
    flight->failed = true;
    flight->why = {ErrorKind::kSystem, EIO, base::text("MPI cannot send to rank ", to)};
    failed.push_back(flight);
  }
}

/// Under the lock.
void MpiActive::begin(const std::shared_ptr<Flight>& flight, int place) {
  const int to = flight->call.to;
  const auto payload = flight->call.payload;
  const auto room = flight->call.room;
  flight->wire = {(std::int64_t{rank_} << 16) + place, static_cast<std::int64_t>(payload.size()),
                  static_cast<std::int64_t>(room.size()), flight->call.head};
  void* const into = room.empty() ? static_cast<void*>(&flight->answered) : room.data();
  const int length = room.empty() ? 1 : static_cast<int>(room.size());
  const bool received = operations_.add(
      [&](MPI_Request* request) { return MPI_Irecv(into, length, MPI_BYTE, to, kAnswerTag + place, comm_, request); },
      {[this, flight](const Ended& how) { end_part(flight, how, true); }, to, true, false, false});
  if (!received) return;
  lanes_[static_cast<std::size_t>(to)].places |= 1U << static_cast<unsigned>(place);
  ++flight->parts;
  const auto send = [&](const void* data, std::size_t bytes, int tag) {
    const bool large = bytes > kLarge;
    const bool sent = operations_.add(
        [&](MPI_Request* request) {
          return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, request);
        },
        {[this, flight, large](const Ended& how) {
           if (large) heard();
           end_part(flight, how, false);
         },
         to, false, false, false});
    if (sent) ++flight->parts;
  };
  send(&flight->wire, sizeof(WireHead), kHeadTag);
  if (!payload.empty()) send(payload.data(), payload.size(), kPayloadTag + place);
  bells_->ring(to);
}

void MpiActive::end_part(const std::shared_ptr<Flight>& flight, const Ended& how, bool is_answer) {
  const int to = flight->call.to;
  const int place = static_cast<int>(flight->wire.place & 0xffff);
  std::vector<std::shared_ptr<Flight>> failed;
  {
    const std::scoped_lock lock(mutex_);
    --flight->parts;
    if (is_answer) {
      heard();
      const std::size_t expected = std::max<std::size_t>(flight->call.room.size(), 1);
      if (how.good && static_cast<std::size_t>(how.bytes) != expected && !stopped_) {
        // Refused; the reason follows.
        const bool posted = operations_.add(
            [&](MPI_Request* request) {
              return MPI_Irecv(&flight->failure, sizeof(WireFailure), MPI_BYTE, to, kFailureTag + place, comm_,
                               request);
            },
            {[this, flight](const Ended& told) {
               if (told.good) {
                 const WireFailure& wire = flight->failure;
                 flight->why = {static_cast<ErrorKind>(wire.kind), wire.code,
                                std::string(wire.text.data(), static_cast<std::size_t>(wire.length))};
               }
               end_part(flight, told, false);
             },
             to, true, false, false});
        flight->failed = true;
        flight->why = {ErrorKind::kSystem, EIO, base::text("rank ", to, " could not say why")};
        if (posted) ++flight->parts;
      }
    }
    if (!how.good && !flight->failed) {
      flight->failed = true;
      flight->why = stopped_ ? stopped() : gone(to);
    }
    if (flight->parts > 0) return;
    Lane& lane = lanes_[static_cast<std::size_t>(to)];
    lane.places &= ~(1U << static_cast<unsigned>(place));
    if (!stopped_ && !lane.gone) start_waiting(to, failed);
  }
  flight->call.done(flight->failed ? &flight->why : nullptr);
  for (const auto& one : failed) one->call.done(&one->why);
}

void MpiActive::take(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) {
  const int from = arrival.from;
  const bool large = into.size() > kLarge;
  bool posted = false;
  {
    const std::scoped_lock lock(mutex_);
    posted = !stopped_ && operations_.add(
                              [&](MPI_Request* request) {
                                return MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, from,
                                                 kPayloadTag + place_of(arrival), comm_, request);
                              },
                              {[done](const Ended& how) { done(how.good); }, from, true, true, true});
    if (posted && large) bells_->ring(from);
  }
  if (!posted) done(false);
}

void MpiActive::answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) {
  static const std::byte kAnswered{1};
  const int to = arrival.from;
  const bool large = data.size() > kLarge;
  std::vector<Operations::Done> ended;
  bool posted = false;
  {
    const std::scoped_lock lock(mutex_);
    posted = !stopped_ && operations_.add(
                              [&](MPI_Request* request) {
                                return MPI_Isend(data.empty() ? &kAnswered : data.data(),
                                                 data.empty() ? 1 : static_cast<int>(data.size()), MPI_BYTE, to,
                                                 kAnswerTag + place_of(arrival), comm_, request);
                              },
                              {[sent](const Ended&) { sent(); }, to, false, false, large});
    if (posted) bells_->ring(to);
  }
  if (!posted) return sent();
  if (std::this_thread::get_id() == thread_.get_id()) return;
  // From another thread: small ones have gone already, others need the handler.
  if (large) {
    bells_->ring_self();
  } else {
    look(false);
  }
}

void MpiActive::refuse(const Arrival& arrival, const CallFailure& failure) {
  auto wire = std::make_shared<WireFailure>();
  wire->kind = static_cast<std::int32_t>(failure.kind);
  wire->code = failure.code;
  wire->length = static_cast<std::int32_t>(std::min(failure.text.size(), wire->text.size()));
  std::copy_n(failure.text.begin(), wire->length, wire->text.begin());
  const std::scoped_lock lock(mutex_);
  if (stopped_) return;
  const auto send = [&](const void* data, int bytes, int tag) {
    operations_.add(
        [&](MPI_Request* request) {
          return MPI_Isend(data, bytes, MPI_BYTE, arrival.from, tag + place_of(arrival), comm_, request);
        },
        {[wire](const Ended&) {}, arrival.from, false, false, false});
  };
  // An answer of no bytes, which none that serves the call has.
  send(nullptr, 0, kAnswerTag);
  send(wire.get(), sizeof(WireFailure), kFailureTag);
  bells_->ring(arrival.from);
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
    if (stopped_) return false;
    ended = operations_.test();
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
      const std::scoped_lock lock(tasks_mutex_);
      tasks_.push_back({std::move(one.operation.done), one.how});
      left = true;
    }
  }
  if (left) bells_->ring_self();
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

void MpiActive::peer_gone(int peer) {
  leaving_.insert(peer);
  const std::scoped_lock lock(mutex_);
  Lane& lane = lanes_[static_cast<std::size_t>(peer)];
  if (lane.gone) return;
  lane.gone = true;
  lane.since = Clock::now();
}

/// Ends what has to do with workers that have left, in two steps: what they sent may come, and what is cancelled ends
/// by itself as a rule.
void MpiActive::give_up_gone() {
  for (auto peer = leaving_.begin(); peer != leaving_.end();) {
    std::vector<Operations::Done> ended;
    std::deque<std::shared_ptr<Flight>> waiting;
    bool over = false;
    {
      const std::scoped_lock lock(mutex_);
      Lane& lane = lanes_[static_cast<std::size_t>(*peer)];
      const auto passed = Clock::now() - lane.since;
      if (lane.stage == 0 && passed > kGrace) {
        lane.stage = 1;
        waiting.swap(lane.waiting);
        ended = operations_.give_up(*peer, false);
      } else if (lane.stage == 1 && passed > kGrace + kCancelling) {
        ended = operations_.give_up(*peer, true);
        over = true;
      }
    }
    const CallFailure why = gone(*peer);
    dispatch(std::move(ended), true);
    for (const auto& flight : waiting) flight->call.done(&why);
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
      moving = operations_.moving();
    }
    if (owed_ > 0) {
      if (now - last < kOwedFor) {
        moving = true;
      } else {
        owed_ = 0;
      }
    }
    if (moving && now - last < kAwake) continue;
    const int rings = bells_->wait(moving ? std::min(nap, kMovingNap) : nap);
    nap = std::min(2 * nap, kLongestNap);
    if (rings > 0) {
      owed_ += rings;
      last = Clock::now();
      nap = kFirstNap;
    }
  }
}

void MpiActive::stop() noexcept {
  {
    const std::scoped_lock lock(registry().mutex);
    if (registry().running.erase(this) == 0) return;
  }
  ending_ = true;
  bells_->ring_self();
  thread_.join();
  int ended = 0;
  const bool alive = MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
  std::vector<Operations::Done> left;
  std::vector<std::shared_ptr<Flight>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    if (alive) {
      left = operations_.finish();
      MPI_Comm_free(&comm_);
    }
    for (Lane& lane : lanes_) {
      waiting.insert(waiting.end(), lane.waiting.begin(), lane.waiting.end());
      lane.waiting.clear();
    }
  }
  for (const Operations::Done& one : left) one.operation.done(one.how);
  run_tasks();
  const CallFailure why = stopped();
  for (const auto& flight : waiting) flight->call.done(&why);
  bells_->close();
}

std::shared_ptr<Active> make_active(MPI_Comm everyone, std::shared_ptr<CallService> service) {
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  check(MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, everyone), "MPI_Allreduce");
  if (level < MPI_THREAD_MULTIPLE)
    throw Error(ErrorKind::kArgument,
                "distant files need MPI_THREAD_MULTIPLE, and MPI was initialised for less; call MPI_Init_thread");
  return std::make_shared<MpiActive>(everyone, std::move(service));
}

}  // namespace plait::transport::mpi
