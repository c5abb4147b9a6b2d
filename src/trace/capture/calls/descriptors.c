/* Calls on descriptors: close, dup, fcntl and their like. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"
#include "trace/capture/names.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4U
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static long close_and_record(int fd, uintptr_t caller, bool may) {
  int type;
  if (!capture_table_wanted(caller)) {
    may = may && cancel_begin(&type);
    const long result = RAW1(SYS_close, fd);
    if (may) cancel_end(type);
    return result;
  }
  // Out of the table first: as soon as it is closed another thread may get the same number.
  struct description* description = table_take(fd);
  uring_remove(fd);
  const int64_t start = capture_now();
  may = may && cancel_begin(&type);
  const long result = RAW1(SYS_close, fd);
  if (may) cancel_end(type);
  if (description != NULL) table_release(description, start, caller);
  return result;
}

long capture_close(int fd, uintptr_t caller) { return close_and_record(fd, caller, false); }

EXPORT int close(int fd) { return (int)told(close_and_record(fd, CALLER(), true)); }
int capture_close_nocancel(int fd) { return (int)told(close_and_record(fd, CALLER(), false)); }

long capture_close_range(unsigned first, unsigned last, int flags, uintptr_t caller) {
  const bool closes = first <= last && ((unsigned)flags & ~2U) == 0;            // 2: CLOSE_RANGE_UNSHARE
  if (closes && capture_table_wanted(caller)) uring_remove_range(first, last);  // our maps of it would keep it open
  const int64_t start = capture_now();
  const long result = RAW3(SYS_close_range, first, last, flags);
  if (result == 0 && !((unsigned)flags & CLOSE_RANGE_CLOEXEC) && capture_table_wanted(caller))
    table_close_range(first, last, start, caller);
  return result;
}

EXPORT int close_range(unsigned first, unsigned last, int flags) {
  return (int)told(capture_close_range(first, last, flags, CALLER()));
}

static void put_duplicate(int from, int64_t start, uintptr_t caller) {
  const struct description* description = table_known(from);
  if (description == NULL) return;
  put_event((struct plait_event){.kind = PLAIT_EVENT_DUPLICATE,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                 .file = atomic_load(&description->file),
                                 .start = start,
                                 .offset = -1});
}

long capture_duplicate(long number, int from, int to, int flags, uintptr_t caller) {
  // A ring whose number is taken over is closed, which our maps of it would prevent.
  const bool closes = number != SYS_dup && from != to && capture_table_wanted(caller) && uring_known(to);
  if (closes && RAW2(SYS_fcntl, from, F_GETFD) >= 0) uring_remove(to);
  const int64_t start = capture_now();
  const long result = RAW3(number, from, to, flags);
  if (result < 0 || result == from || !capture_table_wanted(caller)) return result;
  table_duplicate(from, (int)result);
  put_duplicate(from, start, caller);
  return result;
}

EXPORT int dup(int fd) { return (int)told(capture_duplicate(SYS_dup, fd, 0, 0, CALLER())); }
EXPORT int dup2(int from, int to) {
#ifdef SYS_dup2
  return (int)told(capture_duplicate(SYS_dup2, from, to, 0, CALLER()));
#else
  if (from == to) return told(RAW2(SYS_fcntl, from, F_GETFD)) < 0 ? -1 : to;
  return (int)told(capture_duplicate(SYS_dup3, from, to, 0, CALLER()));
#endif
}
EXPORT int dup3(int from, int to, int flags) {
  return (int)told(capture_duplicate(SYS_dup3, from, to, flags, CALLER()));
}

long capture_control(int fd, int command, long argument, uintptr_t caller, bool may) {
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
    const int64_t start = capture_now();
    const long result = RAW3(SYS_fcntl, fd, command, argument);
    if (result >= 0 && capture_table_wanted(caller)) {
      table_duplicate(fd, (int)result);
      put_duplicate(fd, start, caller);
    }
    return result;
  }
  if (command == F_GETOWN) {  // a group's number is told as a negative one, which looks like an error
    struct f_owner_ex owner;
    const long result = RAW3(SYS_fcntl, fd, F_GETOWN_EX, &owner);
    return result < 0 ? result : owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid;
  }
  int type;
  may = may && (command == F_SETLKW || command == F_OFD_SETLKW) && cancel_begin(&type);
  const long result = RAW3(SYS_fcntl, fd, command, argument);
  if (may) cancel_end(type);
  if (command == F_SETFL && result == 0 && capture_table_wanted(caller)) table_set_status(fd, (int)argument);
  return result;
}

#define ARGUMENT()                          \
  va_list list;                             \
  va_start(list, command);                  \
  const long argument = va_arg(list, long); \
  va_end(list)

EXPORT int fcntl64(int fd, int command, ...) {
  ARGUMENT();
  const long result = capture_control(fd, command, argument, CALLER(), true);
  return command == F_GETOWN && result > -4096 && result < 0 && result != -EBADF ? (int)result : (int)told(result);
}
int capture_fcntl64_nocancel(int fd, int command, ...) {
  ARGUMENT();
  const long result = capture_control(fd, command, argument, CALLER(), false);
  return command == F_GETOWN && result > -4096 && result < 0 && result != -EBADF ? (int)result : (int)told(result);
}
ALIAS(int, fcntl, fcntl64, (int, int, ...));

long capture_seek(int fd, int64_t offset, int whence, uintptr_t caller) {
  if (!capture_wanted(caller)) return RAW3(SYS_lseek, fd, offset, whence);
  struct description* description = table_find(fd);
  struct moving moving = {0};
  moving_begin(&moving, description, fd, false);
  const int64_t start = capture_now();
  const long result = RAW3(SYS_lseek, fd, offset, whence);
  if (description != NULL) moving_set(&moving, description, result);
  put_event((struct plait_event){.kind = PLAIT_EVENT_SEEK,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                 .file = description == NULL ? 0 : atomic_load(&description->file),
                                 .start = start,
                                 .offset = result < 0 ? -1 : result,
                                 .result = result < 0 ? result : 0});
  return result;
}
EXPORT off64_t lseek64(int fd, off64_t offset, int whence) { return told(capture_seek(fd, offset, whence, CALLER())); }
ALIAS(off_t, lseek, lseek64, (int, off_t, int));
