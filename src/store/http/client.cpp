// The HTTP client: one thread that has many requests in flight.
//
// Problem: a request to an object store takes 20 to 100 ms, and one connection transfers some 60 MB/s. A window of
// 500 chunks needs many connections at once. Failures are normal: servers ask clients to slow down (503), connections
// end in the middle of a body.
//
// Idea: one thread runs libcurl's multi interface, with at most max_in_flight() requests. Other threads submit calls
// and wait for their completion. A failed attempt is repeated after a pause that doubles each time and is random in
// part, so that many clients do not return at once. If a server asks to slow down, all requests to that host pause.
//
// Example: attempt 1 ends with 503. The host pauses for 0.05 to 0.1 s, attempt 2 fails as well, the next pause takes
// 0.1 to 0.2 s. After 8 attempts the caller gets the last response.
//
// The thread serves all communicators and files of a process. After a fork(), the child starts a thread of its own.

#include "store/http/client.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "store/http/curl_library.hpp"
#include "store/http/settings.hpp"
#include "store/http/transfer.hpp"

namespace plait::store::http {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstMaxPause{100};
constexpr std::chrono::milliseconds kMaxPause{20'000};
/// Maximum number of attempts to reach a host that does not exist or does not answer.
constexpr int kMaxConnectionAttempts = 3;
/// Maximum number of repetitions of a call, without a pause, that Adapter::learn() or a wrong clock may cause.
constexpr int kMaxQuickRepeats = 3;
/// Difference of the clocks from which a signature may be invalid, in seconds.
constexpr std::int64_t kMaxSkewSeconds = 240;

/// Milliseconds without a request after which connections are closed.
constexpr int kIdleMilliseconds = 5'000;

/// Returns a multi handle of libcurl; nullptr if there is no memory or descriptor left.
void* make_multi() {
  void* const multi = curl().curl_multi_init();
  if (multi != nullptr) curl().curl_multi_setopt(multi, kCurlMaxConnects, static_cast<long>(max_in_flight()));
  return multi;
}

int max_attempts() {
  const char* setting = std::getenv("AWS_MAX_ATTEMPTS");
  const long attempts = setting != nullptr ? std::strtol(setting, nullptr, 10) : 0;
  return attempts > 0 ? static_cast<int>(std::min(attempts, 100L)) : 8;
}

bool asks_to_slow_down(const Call& call) {
  return call.error.empty() && (call.response.status == 503 || call.response.status == 429);
}

/// Returns true if the same request may succeed later. result: the CURLcode of the transfer.
bool may_succeed_later(const Call& call, int result, bool complete) {
  switch (result) {
    case kCurlOk: break;
    case kCurlNoHost:
    case kCurlNotConnected: return call.attempts < kMaxConnectionAttempts;
    case kCurlPartial:
    case kCurlTimedOut:
    case kCurlTls:
    case kCurlNothing:
    case kCurlSendError:
    case kCurlReceiveError: return true;
    default: return false;
  }
  if (call.request.repeats_conflicts && call.response.status == 409) return true;
  constexpr int kStatuses[] = {408, 429, 500, 502, 503, 504};
  return !complete || std::ranges::find(kStatuses, call.response.status) != std::end(kStatuses);
}

/// What the client knows about a server.
struct Host {
  Clock::time_point resumes{};  ///< no request is sent before this time
  std::int64_t skew = 0;        ///< seconds by which the server's clock is ahead
};

/// A call, and the object that gets it when it is complete.
struct SubmittedCall {
  Call* call = nullptr;
  Completions* completions = nullptr;
};

class Client {
 public:
  void submit(Call& call, Completions& completions);

 private:
  void start();
  int start_thread();
  void run();
  void take_submitted();
  void begin_due();
  void begin(const SubmittedCall& submitted);
  void end(void* easy, int result);
  bool should_repeat(Call& call, int result, bool complete);
  bool adopt_server_clock(Call& call);
  void schedule_repetition(const SubmittedCall& submitted);
  int wait_milliseconds() const;
  /// Returns true if connections may be open that no request needs.
  bool is_idle() const { return has_connections_ && in_flight_ == 0 && scheduled_.empty(); }
  void close_connections();
  Host& find_host(const Call& call) { return hosts_[std::string(url_authority(call.request.url))]; }

  std::mutex mutex_;
  std::vector<SubmittedCall> submitted_;  // calls that the client's thread has not taken yet
  bool is_started_ = false;
  int wakeup_ = -1;  // eventfd that wakes the client's thread when a call is submitted

  // Only the client's thread uses the following members.
  void* multi_ = nullptr;
  bool has_connections_ = false;
  std::multimap<Clock::time_point, SubmittedCall> scheduled_;  // calls by the time at which they may be sent
  std::vector<std::unique_ptr<Transfer>> unused_transfers_;
  std::size_t in_flight_ = 0;
  std::map<std::string, Host> hosts_;  // by url_authority()
  std::minstd_rand random_{std::random_device{}()};
};

void Client::submit(Call& call, Completions& completions) {
  const std::scoped_lock lock(mutex_);
  if (!is_started_) start();
  call.attempts = 0;
  call.quick_repeats = 0;
  submitted_.push_back({&call, &completions});
  const std::uint64_t increment = 1;
  (void)!::write(wakeup_, &increment, sizeof increment);
}

void Client::start() {
  multi_ = make_multi();
  wakeup_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int code = multi_ == nullptr ? ENOMEM : wakeup_ < 0 ? errno : 0;
  if (code == 0) code = start_thread();
  is_started_ = code == 0;
  if (is_started_) return;
  if (wakeup_ >= 0) ::close(std::exchange(wakeup_, -1));
  if (multi_ != nullptr) curl().curl_multi_cleanup(std::exchange(multi_, nullptr));
  base::throw_system_error(code, "cannot begin HTTP requests: the system has no descriptors, threads or memory left");
}

/// Returns 0, or the system's code if there is no thread.
int Client::start_thread() {
  // The new thread inherits the mask: signals must be handled by the threads of the program.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = 0;
  try {
    std::thread([this] { run(); }).detach();
  } catch (const std::system_error& error) {
    code = error.code().value();
  } catch (const std::bad_alloc&) {
    code = ENOMEM;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

void Client::run() {
  while (true) {
    take_submitted();
    begin_due();
    int running = 0;
    curl().curl_multi_perform(multi_, &running);
    int remaining = 0;
    bool ended = false;
    while (const CurlMessage* message = curl().curl_multi_info_read(multi_, &remaining)) {
      if (message->kind != kCurlDone) continue;
      ended = true;
      end(message->easy, message->data.result);
    }
    if (ended) continue;
    CurlWait wakeup{wakeup_, kCurlReadable, 0};
    int ready = 0;
    curl().curl_multi_wait(multi_, &wakeup, 1, wait_milliseconds(), &ready);
    if (ready == 0 && is_idle()) close_connections();
  }
}

/// Closes the open connections, which libcurl does only together with the multi handle.
void Client::close_connections() {
  void* const new_multi = make_multi();
  if (new_multi == nullptr) return;
  curl().curl_multi_cleanup(multi_);
  multi_ = new_multi;
  has_connections_ = false;
}

void Client::take_submitted() {
  std::uint64_t count = 0;
  (void)!::read(wakeup_, &count, sizeof count);
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  for (const SubmittedCall& submitted : submitted_) scheduled_.emplace(now, submitted);
  submitted_.clear();
}

void Client::begin_due() {
  const Clock::time_point now = Clock::now();
  while (in_flight_ < max_in_flight() && !scheduled_.empty() && scheduled_.begin()->first <= now) {
    const SubmittedCall next = scheduled_.begin()->second;
    scheduled_.erase(scheduled_.begin());
    if (const Host& host = find_host(*next.call); host.resumes > now)
      scheduled_.emplace(host.resumes, next);
    else
      begin(next);
  }
}

void Client::begin(const SubmittedCall& submitted) {
  if (unused_transfers_.empty()) unused_transfers_.push_back(std::make_unique<Transfer>(curl().curl_easy_init()));
  Transfer* const transfer = unused_transfers_.back().release();
  unused_transfers_.pop_back();
  ++submitted.call->attempts;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  submitted.call->skew = find_host(*submitted.call).skew;
  begin_traced_attempt(*submitted.call);
  transfer->begin(*submitted.call, *submitted.completions, now.count() + submitted.call->skew);
  curl().curl_multi_add_handle(multi_, transfer->easy());
  ++in_flight_;
  has_connections_ = true;
}

void Client::end(void* easy, int result) {
  void* attached = nullptr;
  curl().curl_easy_getinfo(easy, kCurlGetPrivate, &attached);
  std::unique_ptr<Transfer> transfer(static_cast<Transfer*>(attached));
  const bool complete = transfer->end(result);
  record_traced_attempt(transfer->call(), transfer->received(), complete);
  curl().curl_multi_remove_handle(multi_, easy);
  --in_flight_;
  const SubmittedCall submitted{&transfer->call(), &transfer->completions()};
  unused_transfers_.push_back(std::move(transfer));
  if (!should_repeat(*submitted.call, result, complete)) return submitted.completions->add(*submitted.call);
  schedule_repetition(submitted);
}

/// Returns true if a call should be repeated after an attempt has ended. Otherwise its response or error is final.
bool Client::should_repeat(Call& call, int result, bool complete) {
  if (call.abandoned) return false;
  if (call.error.empty() && !call.response.ok() && call.quick_repeats < kMaxQuickRepeats &&
      (adopt_server_clock(call) || (call.adapter != nullptr && call.adapter->learn(call)))) {
    ++call.quick_repeats;
    return true;
  }
  const int attempts = call.request.max_attempts > 0 ? call.request.max_attempts : max_attempts();
  if (may_succeed_later(call, result, complete) && call.attempts < attempts) return true;
  if (!complete && call.error.empty()) {
    call.error = "the server has sent another number of bytes than it has announced";
    call.error_code = EIO;
  }
  return false;
}

/// Adopts the server's clock if it differs so much that signatures are invalid. Returns true if it has been adopted.
bool Client::adopt_server_clock(Call& call) {
  if (call.adapter == nullptr || call.response.status != 403) return false;
  const std::optional<std::int64_t> date = parse_date(call.response.header("date"));
  if (!date) return false;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::int64_t skew = *date - now.count();
  // Compare with the skew that this attempt has used, not with that of the host: the answer to another request may
  // have corrected the latter while this one was in flight.
  if (std::abs(skew - call.skew) < kMaxSkewSeconds) return false;
  find_host(call).skew = skew;
  return true;
}

/// Schedules the next attempt of a call after a pause, which doubles with each attempt.
void Client::schedule_repetition(const SubmittedCall& submitted) {
  const Clock::time_point now = Clock::now();
  // No pause is necessary if each attempt has only caused the adapter or the clock to learn.
  if (submitted.call->quick_repeats == submitted.call->attempts) {
    scheduled_.emplace(now, submitted);
    return;
  }
  const int doublings = std::min(submitted.call->attempts - 1, 12);
  auto max_pause = std::min(kFirstMaxPause * (1 << doublings), kMaxPause);
  if (const long seconds = std::atol(std::string(submitted.call->response.header("retry-after")).c_str()); seconds > 0)
    max_pause = std::max(max_pause, std::min<std::chrono::milliseconds>(std::chrono::seconds(seconds), kMaxPause) * 2);
  const auto half = max_pause.count() / 2;
  const auto random = std::uniform_int_distribution<long>(0, static_cast<long>(half))(random_);
  const Clock::time_point resume_time = now + std::chrono::milliseconds(half + random);
  if (asks_to_slow_down(*submitted.call)) {
    Host& host = find_host(*submitted.call);
    host.resumes = std::max(host.resumes, resume_time);
  }
  scheduled_.emplace(resume_time, submitted);
}

/// Returns how long the thread may wait for events before it must send, repeat or close something.
int Client::wait_milliseconds() const {
  constexpr int kMaxMilliseconds = 60'000;
  if (is_idle()) return kIdleMilliseconds;
  if (scheduled_.empty() || in_flight_ >= max_in_flight()) return kMaxMilliseconds;
  const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(scheduled_.begin()->first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(remaining, 0, kMaxMilliseconds));
}

}  // namespace

void Completions::add(Call& call) {
  // Notifies under the lock: the waiting thread may destroy this object as soon as it has the call.
  const std::scoped_lock lock(mutex_);
  calls_.push_back(&call);
  changed_.notify_one();
}

Call& Completions::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !calls_.empty(); });
  Call& call = *calls_.front();
  calls_.pop_front();
  return call;
}

void submit(Call& call, Completions& completions) {
  static base::PerProcess<Client> client;
  call.traced.attempt.operation = base::OperationScope::operation();
  client.get().submit(call, completions);
}

void perform(Call& call) {
  Completions completions;
  submit(call, completions);
  (void)completions.wait();
}

void perform_all(std::span<Call> calls) {
  Completions completions;
  std::size_t submitted = 0;
  std::exception_ptr failure;
  try {
    for (; submitted < calls.size(); ++submitted) submit(calls[submitted], completions);
  } catch (...) {
    failure = std::current_exception();  // rethrown when the submitted calls, which use `completions`, have ended
  }
  for (; submitted > 0; --submitted) (void)completions.wait();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace plait::store::http
