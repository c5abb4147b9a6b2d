#include "transport/native/active/active_end.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <future>
#include <utility>

#include "base/errors.hpp"
#include "base/wait/retry_allocation.hpp"
#include "plait/error.hpp"
#include "transport/ending.hpp"
#include "transport/native/active/addresses.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {

namespace {

/// Time for which a waiting thread polls for answers before it sleeps.
constexpr std::chrono::microseconds kPollTime{50};
/// Time for which the end of the program waits for other threads that are stopping an end.
constexpr std::chrono::seconds kStopTimeout{5};
/// Maximum number of calls to one rank that all callers together have under way, but at least 2 for each caller.
constexpr int kMaxCallsToRank = 1024;
/// Maximum number of unauthenticated connections of an end.  Further connections wait, even if all ranks connect at
/// once.
constexpr int kMaxUnauthenticated = 1024;

/// The running ends of this process, which are stopped when the program ends.
struct RunningEnds {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<ActiveEnd*> running;
  int stopping = 0;           // number of ends that some thread is stopping
  bool has_callback = false;  // stop_all() is registered by at_ending()
};
RunningEnds& running_ends() {
  static base::PerProcess<RunningEnds> instance;
  return instance.get();
}

}  // namespace

void ActiveEnd::stop_all() {
  RunningEnds& ends = running_ends();
  std::unique_lock lock(ends.mutex);
  while (!ends.running.empty()) {
    ActiveEnd* const end = *ends.running.begin();
    end->claim_stop();
    lock.unlock();
    end->finish_stop();
    lock.lock();
  }
  // Wait for other threads that are stopping an end: they may still be notifying other ranks.
  ends.changed.wait_for(lock, kStopTimeout, [&ends] { return ends.stopping == 0; });
}

/// Makes the calling thread the one that stops this end; other threads then wait for it.  The caller holds the lock of
/// RunningEnds.
void ActiveEnd::claim_stop() {
  running_ends().running.erase(this);
  stopping_ = true;
  ++running_ends().stopping;
}

class ActiveEnd::Taker : public ConnectionTaker {
 public:
  explicit Taker(ActiveEnd& end) : end_(end) {}
  void take(base::Descriptor socket, bool is_local) override { end_.on_connection(std::move(socket), is_local); }
  Clock::time_point on_timer(Clock::time_point now) override { return end_.on_timer(now); }
  void end() override { end_.end_all(); }

 private:
  ActiveEnd& end_;
};

class ActiveEnd::Answers : public EventHandler {
 public:
  explicit Answers(ActiveEnd& end) : end_(end) {}
  void on_event(std::uint32_t) override { end_.poll_answers(/*on_server_thread=*/true); }

 private:
  ActiveEnd& end_;
};

void ActiveEnd::start(Transport& transport) {
  rank_ = transport.rank();
  size_ = transport.size();
  // Divide kMaxCallsToRank by the number of callers.
  max_slots_ = std::clamp(kMaxCallsToRank / size_, 2, Caller::kMaxSlots);
  key_ = agree_on_key(transport);
  std::string start_error;
  try {
    answers_ = base::Descriptor(::epoll_create1(EPOLL_CLOEXEC));
    if (answers_.number() < 0) base::throw_system_error(errno, "cannot wait for answers: ", std::strerror(errno));
    Server::Options options;
    options.max_unauthenticated = std::clamp(2 * size_, options.max_unauthenticated, kMaxUnauthenticated);
    options.other_hosts = transport.nodes_apart() || !own_host().is_on_this_host();
    server_ = Server::start(key_, std::make_shared<Taker>(*this), options);
    loop_ = server_->loop();
    const auto answers = std::make_shared<Answers>(*this);
    std::promise<int> watch_result;  // 0 or an errno
    server_->post([&] {
      answers_watch_ = base::retry_allocation("wait for answers", [&] { return loop_->register_handler(answers); });
      watch_result.set_value(answers_watch_.begin(answers_.number(), EPOLLIN) ? 0 : errno);
    });
    if (const int code = watch_result.get_future().get())
      base::throw_system_error(code, "cannot wait for answers: ", std::strerror(code));
  } catch (const std::exception& error) {  // reported to all ranks by exchange_endpoints()
    start_error = error.what();
  }
  endpoints_ = exchange_endpoints(transport, server_ ? server_->endpoints() : Endpoints{}, start_error);
  server_->post([this] { probe(); });
  if (losses_) losses_->begin([this] { loop_->post([this] { watch_others(); }); });
  const std::scoped_lock lock(running_ends().mutex);
  running_ends().running.insert(this);
  if (!std::exchange(running_ends().has_callback, true)) at_ending(EndingStage::kThreads, stop_all);
}

void ActiveEnd::cancel(const void* request, const CallFailure& why) noexcept {
  std::vector<Caller*> callers;
  {
    const std::scoped_lock lock(mutex_);
    try {
      for (const auto& [rank, peer] : ranks_)
        if (peer.caller) callers.push_back(peer.caller.get());
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  for (Caller* caller : callers) caller->cancel(request, why);
}

CallFailure ActiveEnd::make_stopped_failure() {
  return base::retry_allocation("report that a communicator has been freed", [] {
    return CallFailure{ErrorKind::kSystem, ESHUTDOWN,
                       "the communicator has been freed, or MPI has ended; finish requests before"};
  });
}

void ActiveEnd::stop() noexcept {
  if (!owner_.here()) return;
  {
    std::unique_lock lock(running_ends().mutex);
    if (stopping_) return running_ends().changed.wait(lock, [this] { return finished_; });
    claim_stop();
  }
  finish_stop();
}

/// Stops this end.  Only the thread that has called claim_stop() calls this.
void ActiveEnd::finish_stop() noexcept {
  if (losses_) losses_->end();
  server_.reset();
  const std::scoped_lock lock(running_ends().mutex);
  finished_ = true;
  --running_ends().stopping;
  running_ends().changed.notify_all();
}

Caller* ActiveEnd::find_caller(int rank) {
  const std::scoped_lock lock(mutex_);
  if (stopped_) return nullptr;
  auto& caller = ranks_[rank].caller;
  if (!caller) caller = std::make_unique<Caller>(*this, rank, max_slots_);
  return caller.get();
}

std::shared_ptr<Callee> ActiveEnd::find_callee(int rank) {
  const std::scoped_lock lock(mutex_);
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? nullptr : found->second.callee;
}

void ActiveEnd::call(Call call) {
  const int to = call.to;
  Caller* const caller = find_caller(to);
  if (caller == nullptr) {
    const CallFailure why = make_stopped_failure();
    return call.done(&why);
  }
  if (!caller->call(std::move(call))) return;
  const bool posted = base::retry_allocation(
      "connect to a rank", [&] { return loop_->post([this, to] { handle_event(to, PeerEvent::kWanted); }); });
  if (!posted) caller->end(make_stopped_failure());
}

/// Handles the events of all connections on which this process calls, without waiting.
void ActiveEnd::poll_answers(bool on_server_thread) {
  std::array<epoll_event, 16> events;
  const int count = ::epoll_wait(answers_.number(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const int rank = static_cast<int>(event.data.u64);
    if (Caller* const caller = find_caller(rank)) caller->on_event(event.events, on_server_thread);
  }
}

void ActiveEnd::poll_answers_until(base::FunctionRef<bool()> done) {
  const std::unique_lock lock(polling_, std::try_to_lock);
  if (!lock || done()) return;
  // While this thread polls, answers must not wake the server's thread.
  answers_watch_.change(answers_.number(), 0);
  const auto limit = Clock::now() + kPollTime;
  do poll_answers(/*on_server_thread=*/false);
  while (!done() && Clock::now() < limit);
  answers_watch_.change(answers_.number(), EPOLLIN);
}

void ActiveEnd::receive_payload(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) {
  if (const auto callee = find_callee(arrival.from)) return callee->receive_payload(into, std::move(done));
  done(false);
}

void ActiveEnd::answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) {
  if (const auto callee = find_callee(arrival.from)) return callee->answer(arrival.id, data, std::move(sent));
  sent();
}

void ActiveEnd::reject(const Arrival& arrival, const CallFailure& failure) {
  if (const auto callee = find_callee(arrival.from)) callee->reject(arrival.id, failure);
}

}  // namespace plait::transport::native
