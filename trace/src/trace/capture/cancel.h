/* Cancellation of a thread that waits in a call, as in the C library's own functions. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "trace/capture/threads.h"

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
