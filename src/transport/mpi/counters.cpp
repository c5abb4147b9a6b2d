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
// one gives (5, 4). When all have released the second one, its words are (0, 0), and slot 1 is removed from `held_`.
// Slots are not used again; the 2049th counter needs a second window.

#include "transport/mpi/counters.hpp"

#include <array>
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
constexpr auto kBeat = std::chrono::microseconds(500);

}  // namespace

/// Makes calls that may wait for other processes, and that cannot be interrupted, on a thread of its own, so that an
/// interrupted caller can abandon them.
/// threads  Any number at once, apart from close().
class InterruptibleCalls {
 public:
  ~InterruptibleCalls() { close(); }

  /// Returns the result of `body`, which must not use data of the caller, because the caller may have returned when it
  /// runs.
  /// errors  Those of `body`; kSystem, EINTR: the wait was interrupted, and the call is made all the same.
  std::int64_t run(std::function<std::int64_t()> body) {
    if (!base::can_be_interrupted()) return body();
    auto call = std::make_shared<PendingCall>();
    {
      const std::scoped_lock lock(starting_);
      if (!thread_.joinable()) thread_ = std::thread([this] { queue_.run(); });
    }
    const bool open = queue_.put([call, body = std::move(body)] {
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
    if (!open) base::throw_system_error(0, "MPI has ended; use streams before MPI_Finalize");
    bool left = false;
    std::unique_lock lock(call->mutex);
    // This also applies if the call ends while a signal's handler runs, because the handler may have raised an
    // exception.
    if (base::wait_or_interrupt(call->changed, lock, [&] { return call->ended || left; }, [&] { left = true; }))
      base::throw_system_error(EINTR, "interrupted while it waited for the rank that holds a shared position");
    if (call->error) std::rethrow_exception(call->error);
    return call->result;
  }
  /// Makes a call after the abandoned ones; immediately if none can be abandoned.
  void leave(std::function<void()> body) noexcept {
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
  std::mutex starting_;
  std::thread thread_;
};

/// One window and, on process 0, the thread that makes MPI execute the operations on it.
class CounterWindow {
 public:
  explicit CounterWindow(MPI_Comm communicator) {
    // The communicator is freed after the window: MPICH 5.0 distinguishes windows by the numbers of their
    // communicators, and these numbers are reused.
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
  ~CounterWindow() { end(); }
  CounterWindow(const CounterWindow&) = delete;
  CounterWindow& operator=(const CounterWindow&) = delete;

  /// Returns true if the window belongs to the same processes in the same order, and has a free slot.
  bool serves(MPI_Comm others) const {
    int alike = MPI_UNEQUAL;
    return made_ < kCounters && call(MPI_Comm_compare, everyone_, others, &alike) == MPI_SUCCESS &&
           alike == MPI_CONGRUENT;
  }
  /// Returns the slot of a new counter, which all processes hold.  Called on process 0, with the list of windows
  /// locked.
  int take() {
    const std::scoped_lock lock(beating_);
    held_.push_back(made_);
    if (!beats_) start_beating();
    return made_++;
  }
  /// Releases a counter on this process.
  void release(int slot) noexcept {
    const std::unique_lock lock(calling_, std::try_to_lock);
    if (lock.owns_lock()) return accumulate(slot);
    calls_.leave([this, slot] {
      const std::scoped_lock waited(calling_);
      accumulate(slot);
    });
  }
  /// Makes one atomic operation; returns the previous value.
  std::int64_t change(int word, MPI_Op operation, std::int64_t by) {
    return calls_.run([this, word, operation, by] {
      const std::scoped_lock lock(calling_);
      check_there();
      std::int64_t before = 0;
      check(call(MPI_Fetch_and_op, &by, &before, MPI_INT64_T, 0, word, operation, window_), "MPI_Fetch_and_op");
      check(call(MPI_Win_flush, 0, window_), "MPI_Win_flush");
      return before;
    });
  }
  std::int64_t compare_swap(int word, std::int64_t expected, std::int64_t wanted) {
    return calls_.run([this, word, expected, wanted] {
      const std::scoped_lock lock(calling_);
      check_there();
      std::int64_t before = 0;
      check(call(MPI_Compare_and_swap, &wanted, &expected, &before, MPI_INT64_T, 0, word, window_),
            "MPI_Compare_and_swap");
      check(call(MPI_Win_flush, 0, window_), "MPI_Win_flush");
      return before;
    });
  }

  /// Stops the thread.
  void end() noexcept {
    {
      const std::scoped_lock lock(beating_);
      ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  void free_together() noexcept {
    end();
    calls_.close();
    const std::scoped_lock lock(calling_);
    if (window_ == MPI_WIN_NULL) return;
    call(MPI_Win_unlock_all, window_);
    call(MPI_Win_free, &window_);
    call(MPI_Comm_free, &everyone_);
  }

 private:
  /// The caller holds the lock of calls.
  void accumulate(int slot) noexcept {
    static const std::int64_t kOneLess = -1;
    if (window_ == MPI_WIN_NULL) return;
    call(MPI_Accumulate, &kOneLess, 1, MPI_INT64_T, 0, slot * kWords + 1, 1, MPI_INT64_T, MPI_SUM, window_);
  }
  void start_beating() {
    if (thread_.joinable()) thread_.join();  // it has ended because no counter was held
    try {
      thread_ = std::thread([this] { beat(); });
      beats_ = true;
    } catch (const std::system_error&) {
      beats_ = false;  // operations then wait until process 0 calls MPI by itself
    }
  }
  void check_there() const {
    if (window_ == MPI_WIN_NULL) base::throw_system_error(0, "MPI has ended; use streams before MPI_Finalize");
  }
  /// Runs on process 0 while some process holds a counter.
  void beat() {
    std::unique_lock lock(beating_);
    while (!ending_) {
      changed_.wait_for(lock, kBeat);
      // Probing for a message that is never sent makes MPI execute the operations of other processes.
      int found = 0;
      if (call(MPI_Iprobe, MPI_ANY_SOURCE, 0, everyone_, &found, MPI_STATUS_IGNORE) == kMpiHasEnded) break;
      // The count is read from memory: an atomic operation of MPI on this thread would leave MPICH 5.0 unable to
      // finalize.
      call(MPI_Win_sync, window_);
      std::erase_if(held_, [this](int slot) {
        return reinterpret_cast<std::atomic<std::int64_t>*>(memory_ + slot * kWords + 1)->load() == 0;
      });
      if (held_.empty()) break;
    }
    beats_ = false;
  }

  int rank_ = 0;
  int size_ = 1;
  int made_ = 0;
  MPI_Comm everyone_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t* memory_ = nullptr;  // on process 0
  std::mutex calling_;              // one operation at a time
  std::mutex beating_;
  std::condition_variable changed_;
  std::vector<int> held_;  // slots that some process holds
  bool beats_ = false;
  bool ending_ = false;
  std::thread thread_;
  InterruptibleCalls calls_;  // the last member: it ends before the objects that its calls use
};

namespace {

/// The rank of the window's process 0 in MPI_COMM_WORLD, and a number that this process has assigned: no two windows
/// have the same name.
using WindowName = std::pair<std::int64_t, std::int64_t>;

/// All windows of this process, in an order that all processes share: MPI_Finalize frees them in this order.
struct Windows {
  std::mutex mutex;
  std::condition_variable added;
  std::map<WindowName, std::shared_ptr<CounterWindow>> known;
  std::int64_t numbers = 0;
  bool freed_at_the_end = false;
};

Windows& windows() {
  static base::PerProcess<Windows> instance;
  return instance.get();
}

void free_windows() {
  std::map<WindowName, std::shared_ptr<CounterWindow>> known;
  {
    const std::scoped_lock lock(windows().mutex);
    known.swap(windows().known);
  }
  for (const auto& [name, window] : known) window->free_together();
}

class RemoteCounter : public Counter {
 public:
  RemoteCounter(std::shared_ptr<CounterWindow> window, int slot) : window_(std::move(window)), slot_(slot) {}
  ~RemoteCounter() override { window_->release(slot_); }
  RemoteCounter(const RemoteCounter&) = delete;
  RemoteCounter& operator=(const RemoteCounter&) = delete;
  std::int64_t load() override { return window_->change(word(), MPI_NO_OP, 0); }
  void store(std::int64_t value) override { window_->change(word(), MPI_REPLACE, value); }
  std::int64_t fetch_add(std::int64_t by) override { return window_->change(word(), MPI_SUM, by); }
  std::int64_t compare_swap(std::int64_t expected, std::int64_t wanted) override {
    return window_->compare_swap(word(), expected, wanted);
  }

 private:
  int word() const { return slot_ * kWords; }
  std::shared_ptr<CounterWindow> window_;
  int slot_;
};

}  // namespace

namespace {

void meet(MPI_Comm everyone, Notices& notices) {
  MPI_Request coming = MPI_REQUEST_NULL;
  check(call(MPI_Ibarrier, everyone, &coming), "MPI_Ibarrier");
  notices.wait(std::span(&coming, 1), "MPI_Ibarrier");
}

}  // namespace

std::unique_ptr<Counter> make_remote_counter(MPI_Comm everyone, Notices& notices) {
  // Calls that create a window cannot be interrupted.  After the first barrier no process waits for long.  A process
  // that is interrupted in the first barrier may have let the others pass it; they notice in the second barrier that it
  // has left.
  meet(everyone, notices);
  const base::UninterruptedScope uninterrupted;
  meet(everyone, notices);
  Windows& all = windows();
  // Process 0 chooses for all: other threads may be creating counters, in another order on each process.
  std::array<std::int64_t, 4> chosen{};  // the name of a window, the slot in it, and 1 if the window must be created
  int rank = 0;
  check(call(MPI_Comm_rank, everyone, &rank), "MPI_Comm_rank");
  if (rank == 0) {
    const std::scoped_lock lock(all.mutex);
    int leader = 0;
    check(call(MPI_Comm_rank, MPI_COMM_WORLD, &leader), "MPI_Comm_rank");
    chosen = {leader, all.numbers + 1, 0, 1};
    for (const auto& [name, window] : all.known) {
      if (name.first != leader || !window->serves(everyone)) continue;
      chosen = {name.first, name.second, window->take(), 0};
      break;
    }
    all.numbers += chosen[3];
  }
  check(call(MPI_Bcast, chosen.data(), static_cast<int>(chosen.size()), MPI_INT64_T, 0, everyone), "MPI_Bcast");
  const WindowName name(chosen[0], chosen[1]);
  std::shared_ptr<CounterWindow> window;
  if (chosen[3] != 0) {
    window = std::make_shared<CounterWindow>(everyone);
    const std::scoped_lock lock(all.mutex);
    if (rank == 0) window->take();
    if (!std::exchange(all.freed_at_the_end, true)) at_ending(EndingStage::kMemory, free_windows);
    all.known.emplace(name, window);
    all.added.notify_all();
  } else {
    std::unique_lock lock(all.mutex);
    // another thread of process 0 has created it, and one of this process
    all.added.wait(lock, [&] { return all.known.contains(name); });
    window = all.known.at(name);
  }
  return std::make_unique<RemoteCounter>(std::move(window), static_cast<int>(chosen[2]));
}

}  // namespace plait::transport::mpi
