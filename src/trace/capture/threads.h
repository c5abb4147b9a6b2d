/* Whether this process has one thread only, which glibc tells from version 2.32 on. */
#pragma once

#include <features.h>
#include <stdbool.h>
#include <stddef.h>

#if __GLIBC_PREREQ(2, 32)

#include <sys/single_threaded.h>

/* musl's loader maps this library too.  It has no such variable, and would not start the program. */
#pragma weak __libc_single_threaded

/* False where there may be others. */
static inline bool surely_one_thread(void) { return &__libc_single_threaded != NULL && __libc_single_threaded; }

/* The same as exactly as can be known, for where it is asked once. */
static inline bool has_one_thread(void) { return surely_one_thread(); }

#else

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "trace/capture/raw.h"

static inline bool surely_one_thread(void) { return false; }

/* Each thread is a folder in that of all. */
static inline bool has_one_thread(void) {
  struct stat found;
  return RAW4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &found, 0) == 0 && found.st_nlink == 3;
}

#endif
