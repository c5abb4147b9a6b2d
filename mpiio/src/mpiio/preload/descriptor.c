// Finds out by which descriptor the MPI has opened a file.
//
// Problem: Plait must open the file that the MPI has opened, also if the program has replaced it under its name since.
// stat() after each MPI_File_open would show that, but it takes a tenth of the time of a small file, and is a message
// to the server of a parallel file system.
//
// Idea: the functions that open files are replaced as well. While the MPI opens a file, they remember the descriptor.
// fstat() returns the identity of its file, and is called only if Plait opens the file, too. An MPI that opens the file
// later, or in another way, leaves no descriptor.

#define _GNU_SOURCE  // RTLD_NEXT, O_TMPFILE

#include "mpiio/preload/descriptor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpiio/preload/calls.h"

typedef int open_function(const char* path, int flags, ...);

static open_function* next_open;
static open_function* next_open64;
/// With this TLS model the variables exist as soon as a thread does. Other models may allocate memory at the first use,
/// which signal handlers that call open() must not do.
#define IN_FIRST_BLOCK __attribute__((tls_model("initial-exec")))
static _Thread_local const char* watched IN_FIRST_BLOCK;
static _Thread_local int descriptor IN_FIRST_BLOCK;

__attribute__((constructor)) static void find_next(void) {
  next_open = (open_function*)dlsym(RTLD_NEXT, "open");
  next_open64 = (open_function*)dlsym(RTLD_NEXT, "open64");
}

void plait_mpiio_watch(const char* path) {
  watched = path;
  descriptor = -1;
}

int plait_mpiio_unwatch(void) {
  watched = NULL;
  return descriptor;
}

/// `next` is NULL if another library opens a file before this one is initialized.
static int open_next(open_function* next, const char* path, int flags, mode_t mode) {
  const int found = next != NULL ? next(path, flags, mode) : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (watched != NULL && found >= 0 && strcmp(path, watched) == 0) descriptor = found;
  return found;
}

#define DEFINE_OPEN(NAME)                                             \
  EXPORT int NAME(const char* path, int flags, ...) {                 \
    mode_t mode = 0;                                                  \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
      va_list rest;                                                   \
      va_start(rest, flags);                                          \
      mode = va_arg(rest, mode_t);                                    \
      va_end(rest);                                                   \
    }                                                                 \
    return open_next(next_##NAME, path, flags, mode);                 \
  }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
