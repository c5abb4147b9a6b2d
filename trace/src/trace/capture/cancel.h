/* Lets a thread be cancelled (pthread_cancel) while it waits in a system call, as in the C library's own functions. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "trace/capture/threads.h"

/* Permits cancellation at any instruction until cancel_end(*type).  returns  false if there is only one thread, so that
 * cancel_end must not be called. */
static inline bool cancel_begin(int* type) {
  if (surely_one_thread()) return false;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, type);
  return true;
}

/* Ends the thread here if it was cancelled before. */
static inline void cancel_here(void) {
  if (!surely_one_thread()) pthread_testcancel();
}

static inline void cancel_end(int type) { pthread_setcanceltype(type, &type); }
