/// Active messages: calls to another worker, which a thread of that worker serves while its program computes.
///
/// A worker that calls sends a head of fixed size and a payload, and receives data or an error.  Example: to read 64
/// KiB of a file of rank 3, rank 0 calls rank 3 with a head that describes the read, no payload, and 64 KiB of memory
/// for the answer.  On rank 3, the handler thread passes the head to CallService::on_call(), which reads the file and
/// calls ActiveMessages::answer().
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

/// The reason why a call has no result.
struct CallFailure {
  ErrorKind kind = ErrorKind::kSystem;
  int code = 0;
  std::string text;

  /// Throws the failure as an Error.
  [[noreturn]] void raise() const { throw Error(kind, text, code); }
};

/// The head of a call, whose meaning the layer above defines.
inline constexpr std::size_t kCallHeadBytes = 96;
using CallHead = std::array<std::byte, kCallHeadBytes>;

/// One call to another worker.
struct Call {
  int to = 0;
  CallHead head{};
  std::span<const std::byte> payload;  ///< sent with the call; must not change until `done`
  std::span<std::byte> output;         ///< receives the data of the answer, which must have this length
  /// Called once, on any thread, with nullptr if the call was answered.  It must neither throw nor wait.
  std::function<void(const CallFailure*)> done;
  const void* request = nullptr;  ///< identifies the request that the call is a part of, for ActiveMessages::cancel
};
/// Maximum size of the payload and of the answer of a call.
inline constexpr std::int64_t kMaxCallBytes = std::int64_t{1} << 30;

/// A call as it arrives at the worker that serves it.
struct Arrival {
  int from = 0;
  std::uint64_t id = 0;  ///< number of the call in the transport
  CallHead head{};
  std::int64_t payload_bytes = 0;
  std::int64_t output_bytes = 0;
};

class ActiveMessages;

/// The service that answers calls.  Its functions are called on the worker's handler thread, one at a time; they must
/// neither throw nor wait.
class CallService {
 public:
  virtual ~CallService() = default;
  /// Handles a call that has arrived: calls active.receive_payload() if the call has a payload, then active.answer() or
  /// active.reject(), now or later.
  virtual void on_call(ActiveMessages& active, const Arrival& arrival) = 0;
  /// Handles the end of a worker; answers to its calls are discarded.
  virtual void on_worker_ended(int worker) = 0;
};

/// The active messages of one worker.
/// threads  Any number at once, apart from stop().
class ActiveMessages {
 public:
  virtual ~ActiveMessages() = default;

  /// Begins a call.  Never waits: if the maximum number of calls to that worker is under way, the call is queued.  If
  /// the worker has ended or has stopped, the call fails: within a second if the system reports it, within 30 s if a
  /// whole host is lost.
  virtual void call(Call call) = 0;
  /// Polls for answers until `done` returns true, but only for some microseconds.  A thread that is about to sleep
  /// until an answer arrives calls this first, because a small access takes less time than waking a thread.
  virtual void poll_answers_until(base::FunctionRef<bool()> done) = 0;

  /// Fails the calls of a request (Call::request) that have not been answered: this worker no longer accesses their
  /// memory.  The other worker still carries out calls that have been sent to it.  Not cancelled are calls that are
  /// just being sent, calls whose bytes cannot be copied for lack of memory, and all calls if workers are threads.
  virtual void cancel(const void* request, const CallFailure& why) noexcept {
    (void)request;
    (void)why;
  }

  /// The following functions are for the service.  Receives the payload of a call into `into`, which has its length,
  /// then calls `done` on the handler thread, with true, or with false if the caller has ended.
  virtual void receive_payload(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) = 0;
  /// Answers a call with data; `sent` is called, on any thread, when `data` may be changed.
  virtual void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) = 0;
  /// Fails a call whose payload has been taken.
  virtual void reject(const Arrival& arrival, const CallFailure& failure) = 0;

  /// Ends the service and the handler thread; calls under way fail, here and on other workers.  After stop() has
  /// returned, the service is not called any more.
  virtual void stop() noexcept = 0;
};

}  // namespace plait::transport
