/* Detection of stack frames that a signal handler has jumped out of. */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIT_FRAME() ((uintptr_t)__builtin_frame_address(0))

/* Returns nonzero if the frame at `frame` of this thread was abandoned without a return, as seen from the frame at
 * `here`. No frame deeper than `here` is alive, unless a handler runs on a separate stack. Zero: it is alive, or
 * this is unknown. cost: nothing, or one system call if the answer may be yes. */
static inline int plait_frame_gone(uintptr_t frame, uintptr_t here) {
  stack_t stack;
  if (here < frame) return 0;
  return syscall(SYS_sigaltstack, NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) == 0;
}
