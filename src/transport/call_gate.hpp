/// A gate that all calls of one library pass, so that none is under way when that library ends.
///
/// MPICH 4.0 to 5.0 stop using their locks at the beginning of MPI_Finalize, before they delete the attributes of
/// MPI_COMM_SELF.  A thread that is inside MPI at that moment holds a lock and never releases it: MPI_Finalize then ends
/// the program with "pthread_mutex_destroy: Device or resource busy".  A callback of an attribute that joins the thread
/// comes too late, and during the callbacks threads inside MPI exclude each other no more.  The gate does both:
///
///     thread in MPI_Finalize              gate      another thread
///     pause(): waits for MPI_Test         paused    MPI_Test returns; its next call waits
///     MPI stops using its locks           paused    waits
///     first callback: serialize()         serial    goes on; one thread at a time is inside MPI
///     what was started ends               serial    ends
///     last callback: close()              closed    further calls fail
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace plait::transport {

/// threads  Any.  A call inside another call of the same thread passes at once.
class CallGate {
 public:
  /// The gate of MPI.  It is never destroyed: threads may call MPI until the process ends.
  static CallGate& instance();

  CallGate() = default;
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  /// Begins a call; waits while calls are paused or another thread has its turn.  Returns false once the gate is closed.
  bool enter() noexcept;
  /// Ends a call for which enter() has returned true.
  void leave() noexcept;
  /// True if this thread is in a call.
  static bool is_inside() noexcept;

  /// Holds back further calls and waits until none is under way, for `patience` at most: a call that waits for
  /// another process may never return.  Returns true if none is.
  bool pause(std::chrono::milliseconds patience = kPatience) noexcept;
  /// Ends a pause.
  void resume() noexcept;
  /// Ends a pause too, but lets in one thread at a time from now on.
  void serialize() noexcept;
  /// Makes further calls fail and waits, as pause() does, until none is under way.
  bool close(std::chrono::milliseconds patience = kPatience) noexcept;

 private:
  enum class State : std::uint8_t { kOpen, kPaused, kSerial, kClosed };
  static constexpr std::chrono::seconds kPatience{30};

  bool stop(State state, std::chrono::milliseconds patience) noexcept;

  std::atomic<State> state_{State::kOpen};  // changes with the mutex locked
  std::atomic<int> inside_{0};              // threads in a call
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace plait::transport
