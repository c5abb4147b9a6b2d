/* Determines if this process has only one thread, which glibc reports since version 2.32. */
#pragma once

#include <features.h>
#include <stdbool.h>
#include <stddef.h>

#if __GLIBC_PREREQ(2, 32)

#include <sys/single_threaded.h>

/* musl's loader maps this library too. It has no such variable, and would fail to start the program. */
#pragma weak __libc_single_threaded

/* False if there may be other threads. */
static inline bool surely_one_thread(void) { return &__libc_single_threaded != NULL && __libc_single_threaded; }

/* True if there is one thread, determined as exactly as possible for a single call. */
static inline bool has_one_thread(void) { return surely_one_thread(); }

#else

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "trace/capture/raw.h"

static inline bool surely_one_thread(void) { return false; }

/* Each thread is a folder in /proc/self/task, which therefore has 2 + 1 links for one thread. */
static inline bool has_one_thread(void) {
  struct stat status;
  return RAW4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &status, 0) == 0 && status.st_nlink == 3;
}

#endif
