/// Active messages: calls that a thread of the other worker serves while its program computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/function_ref.hpp"
#include "plait/error.hpp"

namespace plait::transport {

/// Why a call brought no result.
struct CallFailure {
  ErrorKind kind = ErrorKind::kSystem;
  int code = 0;
  std::string text;

  /// errors  Always.
  [[noreturn]] void raise() const { throw Error(kind, text, code); }
};

/// What a call asks for: a few bytes whose meaning the layer above knows.
inline constexpr std::size_t kCallHeadBytes = 96;
using CallHead = std::array<std::byte, kCallHeadBytes>;

/// One call to another worker.
struct Call {
  int to = 0;
  CallHead head{};
  std::span<const std::byte> payload;  ///< goes along; untouched until `done`
  std::span<std::byte> room;           ///< the answer's data are put here directly, and fill it
  /// Called once, on any thread, with nullptr where the call was answered.  It throws nothing and waits for nothing.
  std::function<void(const CallFailure*)> done;
  const void* request = nullptr;  ///< the request that it is a part of, for Active::cancel
};
/// The longest payload and room of a call.
inline constexpr std::int64_t kMostCallBytes = std::int64_t{1} << 30;

/// A call as it comes to the worker that is to serve it.
struct Arrival {
  int from = 0;
  std::uint64_t id = 0;  ///< of the transport
  CallHead head{};
  std::int64_t payload_bytes = 0;
  std::int64_t room_bytes = 0;
};

class Active;

/// What serves calls.  Its functions are called on the worker's handler thread, one at a time; they throw nothing and
/// do not wait.
class CallService {
 public:
  virtual ~CallService() = default;
  /// A call has come: Active::take its payload, if it has one, then Active::answer or reject it, now or later.
  virtual void arrived(Active& active, const Arrival& arrival) = 0;
  /// A worker that has called has ended or left; answers to it go nowhere.
  virtual void left(int worker) = 0;
};

/// One worker's end.
/// threads  Any number at once, stop() apart.
class Active {
 public:
  virtual ~Active() = default;

  /// Begins a call.  Never waits: where as many calls to that worker are under way as it takes at a time, this one
  /// stands in line.  A worker that has ended, or has stopped, fails the call: within a second where the system tells,
  /// within 30 s where a whole host is lost.
  virtual void call(Call call) = 0;
  /// Looks for answers until `done` says so, or for some microseconds, so that a thread that waits need not be woken: a
  /// small access takes less, and waking a thread costs as much.
  virtual void look_until(base::FunctionRef<bool()> done) = 0;

  /// Fails the calls of a request that have not been answered, and lets go of their memory.  The other worker carries
  /// out what has been sent to it all the same.  A call that is just being sent, or for whose bytes there is no memory,
  /// goes on; so do all where workers are threads.
  virtual void cancel(const void* request, const CallFailure& why) noexcept {
    (void)request;
    (void)why;
  }

  /// For the service: receives the payload into `into`, as long as it is, then calls `done` on the handler thread,
  /// with false where the caller has gone.
  virtual void take(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) = 0;
  /// Sends what fills the caller's room; `sent` is called once `data` may be changed, on any thread.
  virtual void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) = 0;
  /// Fails the call, whose payload has been taken.
  virtual void reject(const Arrival& arrival, const CallFailure& failure) = 0;

  /// Ends service and handler thread; calls that are under way fail, here and elsewhere.  Once it has returned, the
  /// service is not called any more.
  virtual void stop() noexcept = 0;
};

}  // namespace plait::transport
