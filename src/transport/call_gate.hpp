/// A gate that every call of one library, such as MPI, passes, so that no call is under way when that library shuts
/// down.
///
/// MPICH 4.0 to 5.0 stop using their locks at the beginning of MPI_Finalize, before they delete the attributes of
/// MPI_COMM_SELF.  A thread that is inside MPI at that moment holds a lock and never releases it, and MPI_Finalize ends
/// the program with "pthread_mutex_destroy: Device or resource busy".  To join that thread in a callback of such an
/// attribute is too late.  During the callbacks, MPICH does not lock out other threads.  Therefore the gate keeps
/// threads out while MPI_Finalize begins, and lets them in one at a time during the callbacks:
///
///     thread in MPI_Finalize              gate      another thread
///     pause(): waits for MPI_Test         paused    MPI_Test returns; the next call waits
///     MPI stops using its locks           paused    waits
///     first callback: serialize()         serial    continues; one thread at a time is inside MPI
///     pending requests complete           serial    ends
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

  /// Begins a call; waits while calls are paused, or while another thread is inside a serial gate.  Returns false once
  /// the gate is closed.
  bool enter() noexcept;
  /// Ends a call for which enter() has returned true.
  void leave() noexcept;
  /// Returns true if this thread is inside a call.
  static bool is_inside() noexcept;

  /// Makes further calls wait, and waits until no call is under way, but at most for `timeout`, because a call that
  /// waits for another process may never return.  Returns true if no call is under way.
  bool pause(std::chrono::milliseconds timeout = kTimeout) noexcept;
  /// Ends a pause.
  void resume() noexcept;
  /// Ends a pause too, but from now on lets in only one thread at a time.
  void serialize() noexcept;
  /// Makes further calls fail and waits, as pause() does, until no call is under way.  Returns true if none is.
  bool close(std::chrono::milliseconds timeout = kTimeout) noexcept;

 private:
  enum class State : std::uint8_t { kOpen, kPaused, kSerial, kClosed };
  static constexpr std::chrono::seconds kTimeout{30};

  bool keep_out(State state, std::chrono::milliseconds timeout) noexcept;

  std::atomic<State> state_{State::kOpen};  // changes with the mutex locked
  std::atomic<int> inside_{0};              // threads in a call
  // number of these threads that were still inside after a timeout; later calls do not wait for them again
  int stuck_ = 0;
  bool has_serial_call_ = false;  // a serial gate has let a thread in
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace plait::transport
