/* Cancelling a thread that waits in a call, as in the C library's own functions. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/single_threaded.h>

static inline bool cancel_begin(int* type) {
  if (__libc_single_threaded) return false;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, type);
  return true;
}

/* The thread ends here, if it was cancelled before. */
static inline void cancel_here(void) {
  if (!__libc_single_threaded) pthread_testcancel();
}

static inline void cancel_end(int type) { pthread_setcanceltype(type, &type); }
