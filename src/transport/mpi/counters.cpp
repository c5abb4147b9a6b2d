// Shared counters between nodes: slots in windows of MPI, which live until MPI_Finalize.
//
// Problem: MPI_Win_create and MPI_Win_free are collective, but counters are released at any time, by one process after
// the other. On many networks, atomic operations on the memory of process 0 are executed only when that process calls
// MPI.
//
// Idea: a window has 2048 slots of two words: the value of a counter, and the number of processes that hold it.
// make_remote_counter() assigns the next slot of an existing window of the same processes, or creates a window. While
// any process holds a counter, a thread of process 0 calls MPI_Iprobe every 500 us, so that MPI executes the operations
// of the others. The thread ends when the second words of all its slots are 0.
//
// Example: 4 processes create two counters: slots 0 and 1, with the words (0, 4) and (0, 4). fetch_add(5) on the first
// one gives (5, 4). When all have released the second one, its words are (0, 0), and slot 1 is removed from
// `slots_in_use_`. Slots are not used again; the 2049th counter needs a second window.

#include "transport/mpi/counters.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/task_queue.hpp"
#include "base/wait/interruption.hpp"
#include "transport/ending.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

/// The words of a counter in the window: its value, and the number of processes that hold it.
constexpr int kWords = 2;
constexpr int kCounters = 2048;
constexpr auto kProgressInterval = std::chrono::microseconds(500);

}  // namespace

/// Makes calls that may wait for other processes and that MPI cannot interrupt.  The calls run on a separate thread, so
/// that an interrupted caller can abandon them.
/// threads  Any number at once, apart from close().
class InterruptibleCalls {
 public:
  ~InterruptibleCalls() { close(); }

  /// Returns the result of `body`, which must not use data of the caller, because the caller may have returned when it
  /// runs.
  /// errors  Those of `body`; kSystem, EINTR: the wait was interrupted, but the thread still makes the call.
  std::int64_t run(std::function<std::int64_t()> body) {
    if (!base::can_be_interrupted()) return body();
    auto call = std::make_shared<PendingCall>();
    {
      const std::scoped_lock lock(thread_mutex_);
      if (!thread_.joinable()) thread_ = std::thread([this] { queue_.run(); });
    }
    const bool is_open = queue_.put([call, body = std::move(body)] {
      std::int64_t result = 0;
      std::exception_ptr error;
      try {
        result = body();
      } catch (...) {
        error = std::current_exception();
      }
      const std::scoped_lock lock(call->mutex);
      call->result = result;
      call->error = error;
      call->ended = true;
      call->changed.notify_all();
    });
    if (!is_open) base::throw_system_error(0, "MPI has ended; use streams before MPI_Finalize");
    bool is_abandoned = false;
    std::unique_lock lock(call->mutex);
    // Report the interruption even if the call ends while the signal's handler runs: the handler may have raised an
    // exception.
    if (base::wait_or_interrupt(
            call->changed, lock, [&] { return call->ended || is_abandoned; }, [&] { is_abandoned = true; }))
      base::throw_system_error(EINTR, "interrupted while it waited for the rank that holds a shared position");
    if (call->error) std::rethrow_exception(call->error);
    return call->result;
  }
  /// Makes a call after those that were abandoned, without waiting for it; or at once if calls cannot be abandoned.
  void run_later(std::function<void()> body) noexcept {
    if (!base::can_be_interrupted()) return body();
    try {
      queue_.put(std::move(body));
    } catch (const std::bad_alloc&) {  // the slot remains in use in the window
    }
  }
  /// Waits for abandoned calls.
  void close() noexcept {
    queue_.close();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct PendingCall {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    std::int64_t result = 0;
    std::exception_ptr error;
  };

  base::TaskQueue queue_;
  std::mutex thread_mutex_;
  std::thread thread_;
};

/// One window and, on process 0, the thread that makes MPI execute the operations on it.
class CounterWindow {
 public:
  explicit CounterWindow(MPI_Comm communicator) {
    // Use a duplicate that is freed only after the window: MPICH 5.0 distinguishes windows by the numbers of their
    // communicators, and reuses the numbers of freed ones.
    check(call(MPI_Comm_dup, communicator, &everyone_), "MPI_Comm_dup");
    check(call(MPI_Comm_set_errhandler, everyone_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(call(MPI_Comm_rank, everyone_, &rank_), "MPI_Comm_rank");
    check(call(MPI_Comm_size, everyone_, &size_), "MPI_Comm_size");
    void* memory = nullptr;
    const MPI_Aint bytes = rank_ == 0 ? MPI_Aint{sizeof(std::int64_t)} * kWords * kCounters : 0;
    int code = call(MPI_Win_allocate, bytes, sizeof(std::int64_t), MPI_INFO_NULL, everyone_, &memory, &window_);
    int worst = MPI_SUCCESS;
    check(call(MPI_Allreduce, &code, &worst, 1, MPI_INT, MPI_MAX, everyone_), "MPI_Allreduce");
    check(worst, "MPI_Win_allocate");
    check(call(MPI_Win_set_errhandler, window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    if (rank_ == 0) {
      memory_ = static_cast<std::int64_t*>(memory);
      for (int slot = 0; slot < kCounters; ++slot) {
        memory_[slot * kWords] = 0;
        memory_[slot * kWords + 1] = size_;
      }
    }
    check(call(MPI_Win_lock_all, MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    check(call(MPI_Win_sync, window_), "MPI_Win_sync");
    check(call(MPI_Barrier, everyone_), "MPI_Barrier");
  }
  ~CounterWindow() { end_progress(); }
  CounterWindow(const CounterWindow&) = delete;
  CounterWindow& operator=(const CounterWindow&) = delete;

  /// Returns true if the window belongs to the same processes in the same order, and has a free slot.
  bool can_serve(MPI_Comm communicator) const {
    int comparison = MPI_UNEQUAL;
    return next_slot_ < kCounters && call(MPI_Comm_compare, everyone_, communicator, &comparison) == MPI_SUCCESS &&
           comparison == MPI_CONGRUENT;
  }
  /// Assigns a slot to a new counter, which all processes hold.  Called on process 0, under the lock of Windows.
  int assign_slot() {
    const std::scoped_lock lock(progress_mutex_);
    slots_in_use_.push_back(next_slot_);
    if (!progress_runs_) start_progress();
    return next_slot_++;
  }
  /// Releases a counter on this process.
  void release(int slot) noexcept {
    const std::unique_lock lock(operation_mutex_, std::try_to_lock);
    if (lock.owns_lock()) return remove_holder(slot);
    calls_.run_later([this, slot] {
      const std::scoped_lock operation_lock(operation_mutex_);
      remove_holder(slot);
    });
  }
  /// Makes one atomic operation; returns the previous value.
  std::int64_t fetch_and_op(int word, MPI_Op operation, std::int64_t by) {
    return calls_.run([this, word, operation, by] {
      const std::scoped_lock lock(operation_mutex_);
      check_window();
      std::int64_t before = 0;
      check(call(MPI_Fetch_and_op, &by, &before, MPI_INT64_T, 0, word, operation, window_), "MPI_Fetch_and_op");
      check(call(MPI_Win_flush, 0, window_), "MPI_Win_flush");
      return before;
    });
  }
  std::int64_t compare_swap(int word, std::int64_t expected, std::int64_t desired) {
    return calls_.run([this, word, expected, desired] {
      const std::scoped_lock lock(operation_mutex_);
      check_window();
      std::int64_t before = 0;
      check(call(MPI_Compare_and_swap, &desired, &expected, &before, MPI_INT64_T, 0, word, window_),
            "MPI_Compare_and_swap");
      check(call(MPI_Win_flush, 0, window_), "MPI_Win_flush");
      return before;
    });
  }

  /// Stops the progress thread.
  void end_progress() noexcept {
    {
      const std::scoped_lock lock(progress_mutex_);
      progress_must_end_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  /// Frees the window.  Collective.
  void free() noexcept {
    end_progress();
    calls_.close();
    const std::scoped_lock lock(operation_mutex_);
    if (window_ == MPI_WIN_NULL) return;
    call(MPI_Win_unlock_all, window_);
    call(MPI_Win_free, &window_);
    call(MPI_Comm_free, &everyone_);
  }

 private:
  /// Subtracts 1 from the number of holders of a slot.  operation_mutex_ must be locked.
  void remove_holder(int slot) noexcept {
    static const std::int64_t kOneLess = -1;  // static, because MPI may read it after the call has returned
    if (window_ == MPI_WIN_NULL) return;
    call(MPI_Accumulate, &kOneLess, 1, MPI_INT64_T, 0, slot * kWords + 1, 1, MPI_INT64_T, MPI_SUM, window_);
  }
  void start_progress() {
    if (thread_.joinable()) thread_.join();  // it has ended because no counter was held
    try {
      thread_ = std::thread([this] { run_progress(); });
      progress_runs_ = true;
    } catch (const std::system_error&) {
      progress_runs_ = false;  // operations then wait until process 0 calls MPI by itself
    }
  }
  void check_window() const {
    if (window_ == MPI_WIN_NULL) base::throw_system_error(0, "MPI has ended; use streams before MPI_Finalize");
  }
  /// Runs on process 0 while some process holds a counter.
  void run_progress() {
    std::unique_lock lock(progress_mutex_);
    while (!progress_must_end_) {
      changed_.wait_for(lock, kProgressInterval);
      // Probing for a message that is never sent makes MPI execute the operations of other processes.
      int found = 0;
      if (call(MPI_Iprobe, MPI_ANY_SOURCE, 0, everyone_, &found, MPI_STATUS_IGNORE) == kMpiHasEnded) break;
      // The count is read from memory: an atomic operation of MPI on this thread would leave MPICH 5.0 unable to
      // finalize.
      call(MPI_Win_sync, window_);
      std::erase_if(slots_in_use_, [this](int slot) {
        return reinterpret_cast<std::atomic<std::int64_t>*>(memory_ + slot * kWords + 1)->load() == 0;
      });
      if (slots_in_use_.empty()) break;
    }
    progress_runs_ = false;
  }

  int rank_ = 0;
  int size_ = 1;
  int next_slot_ = 0;
  MPI_Comm everyone_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t* memory_ = nullptr;  // on process 0
  std::mutex operation_mutex_;      // one operation at a time
  std::mutex progress_mutex_;       // protects the four members below
  std::condition_variable changed_;
  std::vector<int> slots_in_use_;  // slots that some process holds
  bool progress_runs_ = false;
  bool progress_must_end_ = false;
  std::thread thread_;
  // The last member, so that its thread ends before the members that its calls use are destroyed.
  InterruptibleCalls calls_;
};

namespace {

/// The rank of the window's process 0 in MPI_COMM_WORLD, and a number that this process 0 has assigned: no two windows
/// have the same name.
using WindowName = std::pair<std::int64_t, std::int64_t>;

/// All windows of this process.  The order of their names is the same on all processes, so that all free them in the
/// same order in MPI_Finalize.
struct Windows {
  std::mutex mutex;
  std::condition_variable added;
  std::map<WindowName, std::shared_ptr<CounterWindow>> all;
  std::int64_t last_number = 0;  // the last one that this process has assigned
  bool has_callback = false;     // free_windows() is registered by at_ending()
};

Windows& windows() {
  static base::PerProcess<Windows> instance;
  return instance.get();
}

void free_windows() {
  std::map<WindowName, std::shared_ptr<CounterWindow>> all;
  {
    const std::scoped_lock lock(windows().mutex);
    all.swap(windows().all);
  }
  for (const auto& [name, window] : all) window->free();
}

class RemoteCounter : public Counter {
 public:
  RemoteCounter(std::shared_ptr<CounterWindow> window, int slot) : window_(std::move(window)), slot_(slot) {}
  ~RemoteCounter() override { window_->release(slot_); }
  RemoteCounter(const RemoteCounter&) = delete;
  RemoteCounter& operator=(const RemoteCounter&) = delete;
  std::int64_t load() override { return window_->fetch_and_op(word(), MPI_NO_OP, 0); }
  void store(std::int64_t value) override { window_->fetch_and_op(word(), MPI_REPLACE, value); }
  std::int64_t fetch_add(std::int64_t by) override { return window_->fetch_and_op(word(), MPI_SUM, by); }
  std::int64_t compare_swap(std::int64_t expected, std::int64_t desired) override {
    return window_->compare_swap(word(), expected, desired);
  }

 private:
  int word() const { return slot_ * kWords; }
  std::shared_ptr<CounterWindow> window_;
  int slot_;
};

void wait_for_all(MPI_Comm everyone, Notices& notices) {
  MPI_Request barrier = MPI_REQUEST_NULL;
  check(call(MPI_Ibarrier, everyone, &barrier), "MPI_Ibarrier");
  notices.wait(std::span(&barrier, 1), "MPI_Ibarrier");
}

}  // namespace

std::unique_ptr<Counter> make_remote_counter(MPI_Comm everyone, Notices& notices) {
  // Creating a window cannot be interrupted.  The first barrier can; after it no process waits for long.  If a process
  // is interrupted there, the others may already have passed it; they notice in the second barrier that it has left.
  wait_for_all(everyone, notices);
  const base::UninterruptedScope uninterrupted;
  wait_for_all(everyone, notices);
  Windows& known = windows();
  // Process 0 chooses the slot: other threads may be creating counters at the same time, in a different order on each
  // process.
  struct SlotChoice {
    std::int64_t leader = 0;  // the name of a window is (leader, number)
    std::int64_t number = 0;
    std::int64_t slot = 0;
    std::int64_t is_new = 0;  // 1 if the window must be created
  };
  SlotChoice choice;
  int rank = 0;
  check(call(MPI_Comm_rank, everyone, &rank), "MPI_Comm_rank");
  if (rank == 0) {
    const std::scoped_lock lock(known.mutex);
    int leader = 0;
    check(call(MPI_Comm_rank, MPI_COMM_WORLD, &leader), "MPI_Comm_rank");
    choice = {leader, known.last_number + 1, 0, 1};
    for (const auto& [name, window] : known.all) {
      if (name.first != leader || !window->can_serve(everyone)) continue;
      choice = {name.first, name.second, window->assign_slot(), 0};
      break;
    }
    known.last_number += choice.is_new;
  }
  constexpr int kWordsOfChoice = sizeof choice / sizeof(std::int64_t);
  check(call(MPI_Bcast, &choice, kWordsOfChoice, MPI_INT64_T, 0, everyone), "MPI_Bcast");
  const WindowName name(choice.leader, choice.number);
  std::shared_ptr<CounterWindow> window;
  if (choice.is_new != 0) {
    window = std::make_shared<CounterWindow>(everyone);
    const std::scoped_lock lock(known.mutex);
    if (rank == 0) window->assign_slot();
    if (!std::exchange(known.has_callback, true)) at_ending(EndingStage::kMemory, free_windows);
    known.all.emplace(name, window);
    known.added.notify_all();
  } else {
    std::unique_lock lock(known.mutex);
    // The window exists on process 0; wait until another thread has created it on this process too.
    known.added.wait(lock, [&] { return known.all.contains(name); });
    window = known.all.at(name);
  }
  return std::make_unique<RemoteCounter>(std::move(window), static_cast<int>(choice.slot));
}

}  // namespace plait::transport::mpi
