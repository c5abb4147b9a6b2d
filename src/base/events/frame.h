/* Frames on the stack that a signal handler may have jumped out of. */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIT_FRAME() ((uintptr_t)__builtin_frame_address(0))

/* Whether the frame at `frame` of this thread is gone without having returned, seen from the one at `here`.  Deeper
 * than `here` nothing lives, unless a handler runs on a stack of its own.  No: it lives, or that is not known.
 * cost: nothing, or one system call where the answer may be yes. */
static inline int plait_frame_gone(uintptr_t frame, uintptr_t here) {
  stack_t stack;
  if (here < frame) return 0;
  return syscall(SYS_sigaltstack, NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) == 0;
}
