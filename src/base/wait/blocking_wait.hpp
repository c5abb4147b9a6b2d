/// Releases the locks of a program while a thread waits for other threads of the process.
#pragma once

namespace plait::base {

/// Hooks around waits, for programs with a lock that threads hold while they call Plait, such as the interpreter lock
/// of Python. The other thread, for which Plait waits, may need that lock.
struct BlockingHooks {
  void* (*begin)() = nullptr;    ///< releases the lock if this thread holds it; nullptr: there is nothing to reacquire
  void (*end)(void*) = nullptr;  ///< reacquires the lock; called with the result of begin() unless that is nullptr
};
/// threads  Call it before the first wait.
void set_blocking_hooks(BlockingHooks hooks) noexcept;

/// Calls the hooks at the beginning and the end of its lifetime. Construct it for the time of a wait for another
/// thread, before the mutex of the wait is locked.
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
