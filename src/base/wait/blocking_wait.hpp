/// Waits for other threads of this process.
#pragma once

namespace plait::base {

/// Hooks around waits, for programs with a lock that threads hold while they call Plait, such as the interpreter's lock
/// of Python.  The thread that is waited for may need that lock.
struct BlockingHooks {
  void* (*begin)() = nullptr;    ///< releases the lock if this thread holds it; nullptr: there is none to take again
  void (*end)(void*) = nullptr;  ///< takes it again; called with what begin() has returned unless that is nullptr
};
/// threads  Before the first wait.
void set_blocking_hooks(BlockingHooks hooks) noexcept;

/// Lives around a wait for another thread, and is made before the mutex of the wait is locked.
class BlockingWait {
 public:
  BlockingWait() noexcept;
  ~BlockingWait();
  BlockingWait(const BlockingWait&) = delete;
  BlockingWait& operator=(const BlockingWait&) = delete;

 private:
  void* released_;
};

}  // namespace plait::base
