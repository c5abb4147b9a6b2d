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

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{20'000};
/// Attempts to reach a host that does not exist or does not answer.
constexpr int kMaxConnections = 3;
/// Repetitions that Adapter::learn() may cause.
constexpr int kMaxQuickRepeats = 3;
/// Difference of the clocks from which a signature may be invalid, in seconds.
constexpr std::int64_t kMaxSkew = 240;

/// Milliseconds without a request after which connections are closed.
constexpr int kIdle = 5'000;

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

/// Returns true if the same request may succeed later. result: that of libcurl.
bool may_pass(const Call& call, int result, bool complete) {
  switch (result) {
    case kCurlOk: break;
    case kCurlNoHost:
    case kCurlNotConnected: return call.attempts < kMaxConnections;
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

struct Host {
  Clock::time_point resumes{};  ///< no request is sent before this time
  std::int64_t skew = 0;        ///< seconds by which the server's clock is ahead
};

struct Submitted {
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
  void begin(const Submitted& one);
  void end(void* easy, int result);
  bool repeats(Call& call, int result, bool complete);
  bool learns_clock(Call& call);
  void pause(const Submitted& one);
  int wait_milliseconds() const;
  /// True if connections may be open that no request needs.
  bool is_idle() const { return has_connections_ && active_ == 0 && waiting_.empty(); }
  void close_connections();
  Host& find_host(const Call& call) { return hosts_[std::string(url_authority(call.request.url))]; }

  std::mutex mutex_;
  std::vector<Submitted> submitted_;
  bool started_ = false;
  int wakeup_ = -1;

  // Only the client's thread uses the following members.
  void* multi_ = nullptr;
  bool has_connections_ = false;
  std::multimap<Clock::time_point, Submitted> waiting_;
  std::vector<std::unique_ptr<Transfer>> idle_;
  std::size_t active_ = 0;
  std::map<std::string, Host> hosts_;
  std::minstd_rand random_{std::random_device{}()};
};

void Client::submit(Call& call, Completions& completions) {
  const std::scoped_lock lock(mutex_);
  if (!started_) start();
  call.attempts = 0;
  call.quick_repeats = 0;
  submitted_.push_back({&call, &completions});
  const std::uint64_t one = 1;
  (void)!::write(wakeup_, &one, sizeof one);
}

void Client::start() {
  multi_ = make_multi();
  wakeup_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int code = multi_ == nullptr ? ENOMEM : wakeup_ < 0 ? errno : 0;
  if (code == 0) code = start_thread();
  started_ = code == 0;
  if (started_) return;
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
    int left = 0;
    bool ended = false;
    while (const CurlMessage* message = curl().curl_multi_info_read(multi_, &left)) {
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
  void* const fresh = make_multi();
  if (fresh == nullptr) return;
  curl().curl_multi_cleanup(multi_);
  multi_ = fresh;
  has_connections_ = false;
}

void Client::take_submitted() {
  std::uint64_t count = 0;
  (void)!::read(wakeup_, &count, sizeof count);
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  for (const Submitted& one : submitted_) waiting_.emplace(now, one);
  submitted_.clear();
}

void Client::begin_due() {
  const Clock::time_point now = Clock::now();
  while (active_ < max_in_flight() && !waiting_.empty() && waiting_.begin()->first <= now) {
    const Submitted next = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    if (const Host& host = find_host(*next.call); host.resumes > now)
      waiting_.emplace(host.resumes, next);
    else
      begin(next);
  }
}

void Client::begin(const Submitted& one) {
  if (idle_.empty()) idle_.push_back(std::make_unique<Transfer>(curl().curl_easy_init()));
  Transfer* const transfer = idle_.back().release();
  idle_.pop_back();
  ++one.call->attempts;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  one.call->skew = find_host(*one.call).skew;
  begin_traced(*one.call);
  transfer->begin(*one.call, *one.completions, now.count() + one.call->skew);
  curl().curl_multi_add_handle(multi_, transfer->easy());
  ++active_;
  has_connections_ = true;
}

void Client::end(void* easy, int result) {
  void* attached = nullptr;
  curl().curl_easy_getinfo(easy, kCurlGetPrivate, &attached);
  std::unique_ptr<Transfer> transfer(static_cast<Transfer*>(attached));
  const bool complete = transfer->end(result);
  end_traced(transfer->call(), transfer->received(), complete);
  curl().curl_multi_remove_handle(multi_, easy);
  --active_;
  const Submitted one{&transfer->call(), &transfer->completions()};
  idle_.push_back(std::move(transfer));
  if (!repeats(*one.call, result, complete)) return one.completions->add(*one.call);
  pause(one);
}

bool Client::repeats(Call& call, int result, bool complete) {
  if (call.abandoned) return false;
  if (call.error.empty() && !call.response.ok() && call.quick_repeats < kMaxQuickRepeats &&
      (learns_clock(call) || (call.adapter != nullptr && call.adapter->learn(call)))) {
    ++call.quick_repeats;
    return true;
  }
  const int attempts = call.request.max_attempts > 0 ? call.request.max_attempts : max_attempts();
  if (may_pass(call, result, complete) && call.attempts < attempts) return true;
  if (!complete && call.error.empty()) {
    call.error = "the server has sent another number of bytes than it has announced";
    call.error_code = EIO;
  }
  return false;
}

/// Adopts the server's clock if it differs so much that signatures are invalid.
bool Client::learns_clock(Call& call) {
  if (call.adapter == nullptr || call.response.status != 403) return false;
  const std::optional<std::int64_t> date = parse_date(call.response.header("date"));
  if (!date) return false;
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::int64_t skew = *date - now.count();
  // Compare with the skew that this attempt has used, not with that of the host: the answer to another request may
  // have corrected the latter while this one was in flight.
  if (std::abs(skew - call.skew) < kMaxSkew) return false;
  find_host(call).skew = skew;
  return true;
}

void Client::pause(const Submitted& one) {
  const Clock::time_point now = Clock::now();
  if (one.call->quick_repeats == one.call->attempts) {
    waiting_.emplace(now, one);
    return;
  }
  const int doubled = std::min(one.call->attempts - 1, 12);
  auto longest = std::min(kFirstPause * (1 << doubled), kLongestPause);
  if (const long seconds = std::atol(std::string(one.call->response.header("retry-after")).c_str()); seconds > 0)
    longest = std::max(longest, std::min<std::chrono::milliseconds>(std::chrono::seconds(seconds), kLongestPause) * 2);
  const auto half = longest.count() / 2;
  const auto random = std::uniform_int_distribution<long>(0, static_cast<long>(half))(random_);
  const Clock::time_point then = now + std::chrono::milliseconds(half + random);
  if (asks_to_slow_down(*one.call)) {
    Host& host = find_host(*one.call);
    host.resumes = std::max(host.resumes, then);
  }
  waiting_.emplace(then, one);
}

int Client::wait_milliseconds() const {
  constexpr int kLongest = 60'000;
  if (is_idle()) return kIdle;
  if (waiting_.empty() || active_ >= max_in_flight()) return kLongest;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(waiting_.begin()->first - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongest));
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
