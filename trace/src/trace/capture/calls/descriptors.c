/* Calls on descriptors: close, dup, fcntl and similar ones. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4U
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static long call_close(int fd, struct next_call* next, bool may_cancel) {
  if (next != CHAIN_END) return chain_call(next, 0, ARGUMENTS(fd));
  int type;
  may_cancel = may_cancel && cancel_begin(&type);
  const long result = RAW1(SYS_close, fd);
  if (may_cancel) cancel_end(type);
  return result;
}

static long close_and_record(int fd, uintptr_t caller, struct next_call* next, bool may_cancel) {
  if ((next != CHAIN_END && chain_inside()) || !capture_should_record_table(caller))
    return call_close(fd, next, may_cancel);
  // The description is removed from the table first, because another thread may get the same descriptor as soon as this
  // one is closed.
  struct description* description = table_remove(fd);
  uring_remove(fd);
  const int64_t start = capture_now();
  const long result = call_close(fd, next, may_cancel);
  if (description != NULL) table_release(description, start, caller);
  return result;
}

long capture_close(int fd, uintptr_t caller) { return close_and_record(fd, caller, CHAIN_END, false); }

BOTH(int, close, (int fd), return (int)library_result(next, close_and_record(fd, CALLER(), next, true));)
int patched_close_nocancel(int fd);
PATCHED(int, close_nocancel, (int fd), return (int)library_result(next, close_and_record(fd, CALLER(), next, false));)

long capture_close_range(unsigned first, unsigned last, int flags, struct next_call* next, uintptr_t caller) {
  const bool closes = first <= last && ((unsigned)flags & ~2U) == 0;  // the 2 is CLOSE_RANGE_UNSHARE
  // Our mappings of a ring would keep it open.
  if (closes && capture_should_record_table(caller)) uring_remove_range(first, last);
  const int64_t start = capture_now();
  const long result = next != CHAIN_END ? chain_call(next, 0, ARGUMENTS(first, last, flags))
                                        : RAW3(SYS_close_range, first, last, flags);
  if (result == 0 && !((unsigned)flags & CLOSE_RANGE_CLOEXEC) && capture_should_record_table(caller))
    table_close_range(first, last, start, caller);
  return result;
}

int close_range(unsigned first, unsigned last, int flags);  // declared by glibc since 2.34
BOTH(int, close_range, (unsigned first, unsigned last, int flags),
     return (int)library_result(next, capture_close_range(first, last, flags, next, CALLER()));)

// Records that a descriptor was duplicated.
static void put_duplicate(int from, int64_t start, uintptr_t caller) {
  const struct description* description = table_find_known(from);
  if (description == NULL) return;
  put_event((struct plait_event){.kind = PLAIT_EVENT_DUPLICATE,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                 .file = atomic_load(&description->file),
                                 .start = start,
                                 .offset = -1});
}

struct duplication {
  struct next_call* next;
  long number;
  int from, to, flags;
};

static long call_duplicate(const struct duplication* call) {
  const long arguments[6] = {call->from, call->to, call->flags};
  return call->next != CHAIN_END ? chain_call(call->next, 0, arguments)
                                 : RAW3(call->number, call->from, call->to, call->flags);
}

static long duplicate_and_record(const struct duplication* call, uintptr_t caller) {
  if (call->next != CHAIN_END && chain_inside()) return call_duplicate(call);
  const long number = call->number;
  const int from = call->from;
  const int to = call->to;
  // dup2 closes a ring whose number it takes over. Our mappings would keep the ring open.
  const bool closes = number != SYS_dup && from != to && capture_should_record_table(caller) && uring_is_known(to);
  if (closes && RAW2(SYS_fcntl, from, F_GETFD) >= 0) uring_remove(to);
  const int64_t start = capture_now();
  const long result = call_duplicate(call);
  if (result < 0 || result == from || !capture_should_record_table(caller)) return result;
  table_duplicate(from, (int)result);
  put_duplicate(from, start, caller);
  return result;
}

long capture_duplicate(long number, int from, int to, int flags, uintptr_t caller) {
  return duplicate_and_record(&(struct duplication){CHAIN_END, number, from, to, flags}, caller);
}

#define DUPLICATE(NUMBER, FROM, TO, FLAGS) \
  return (int)library_result(next,         \
                             duplicate_and_record(&(struct duplication){next, NUMBER, FROM, TO, FLAGS}, CALLER()));

BOTH(int, dup, (int fd), DUPLICATE(SYS_dup, fd, 0, 0))
BOTH(int, dup3, (int from, int to, int flags), DUPLICATE(SYS_dup3, from, to, flags))
#ifdef SYS_dup2
BOTH(int, dup2, (int from, int to), DUPLICATE(SYS_dup2, from, to, 0))
#else
BOTH(int, dup2, (int from, int to),
     if (next == CHAIN_END && from == to) return c_result(RAW2(SYS_fcntl, from, F_GETFD)) < 0 ? -1 : to;
     DUPLICATE(SYS_dup3, from, to, 0))
#endif

struct control {
  struct next_call* next;
  int fd;
  int command;
  long argument;
};

static long call_control(const struct control* call, bool waits) {
  if (call->next != CHAIN_END) return chain_call(call->next, 0, ARGUMENTS(call->fd, call->command, call->argument));
  if (call->command == F_GETOWN) {  // process groups are returned as negative numbers, which look like errors
    struct f_owner_ex owner;
    const long result = RAW3(SYS_fcntl, call->fd, F_GETOWN_EX, &owner);
    return result < 0 ? result : owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid;
  }
  int type;
  const bool may_cancel = waits && (call->command == F_SETLKW || call->command == F_OFD_SETLKW) && cancel_begin(&type);
  const long result = RAW3(SYS_fcntl, call->fd, call->command, call->argument);
  if (may_cancel) cancel_end(type);
  return result;
}

static long control_and_record(const struct control* call, uintptr_t caller, bool may_cancel) {
  const int64_t start = capture_now();
  const long result = call_control(call, may_cancel);
  const bool duplicates = call->command == F_DUPFD || call->command == F_DUPFD_CLOEXEC;
  if (result < 0 || !(duplicates || call->command == F_SETFL) || !capture_should_record_table(caller)) return result;
  if (call->next != CHAIN_END && chain_inside()) return result;
  if (duplicates) {
    table_duplicate(call->fd, (int)result);
    put_duplicate(call->fd, start, caller);
  } else {
    table_set_status(call->fd, (int)call->argument);
  }
  return result;
}

long capture_control(int fd, int command, long argument, uintptr_t caller, bool may_cancel) {
  return control_and_record(&(struct control){CHAIN_END, fd, command, argument}, caller, may_cancel);
}

#define CONTROL(MAY_CANCEL)                                                                                        \
  va_list list;                                                                                                    \
  va_start(list, command);                                                                                         \
  const long argument = va_arg(list, long);                                                                        \
  va_end(list);                                                                                                    \
  const long result = control_and_record(&(struct control){next, fd, command, argument}, CALLER(), MAY_CANCEL);    \
  const bool group = next == CHAIN_END && command == F_GETOWN && result > -4096 && result < 0 && result != -EBADF; \
  return group ? (int)result : (int)library_result(next, result);

BOTH(int, fcntl64, (int fd, int command, ...), CONTROL(true))
CHAINED(int, fcntl, (int fd, int command, ...), CONTROL(true))
int patched_fcntl64_nocancel(int fd, int command, ...);
PATCHED(int, fcntl64_nocancel, (int fd, int command, ...), CONTROL(false))

struct seek_call {
  struct next_call* next;
  int fd;
  int64_t offset;
  int whence;
};

static long seek_and_record(const struct seek_call* call, uintptr_t caller) {
  const long arguments[6] = {call->fd, call->offset, call->whence};
  if (!capture_should_record(caller) || chain_inside())
    return call->next != CHAIN_END ? chain_call(call->next, 0, arguments)
                                   : RAW3(SYS_lseek, call->fd, call->offset, call->whence);
  struct description* description = table_find(call->fd);
  struct position_use position_use = {0};
  position_begin_call(&position_use, description, call->fd, false);
  const int64_t start = capture_now();
  const long result = call->next != CHAIN_END ? chain_call(call->next, 0, arguments)
                                              : RAW3(SYS_lseek, call->fd, call->offset, call->whence);
  if (description != NULL) position_end_seek(&position_use, description, result);
  put_event((struct plait_event){.kind = PLAIT_EVENT_SEEK,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                 .file = description == NULL ? 0 : atomic_load(&description->file),
                                 .start = start,
                                 .offset = result < 0 ? -1 : result,
                                 .result = result < 0 ? result : 0});
  return result;
}

long capture_seek(int fd, int64_t offset, int whence, uintptr_t caller) {
  return seek_and_record(&(struct seek_call){CHAIN_END, fd, offset, whence}, caller);
}

#define SEEK() return library_result(next, seek_and_record(&(struct seek_call){next, fd, offset, whence}, CALLER()));
BOTH(off64_t, lseek64, (int fd, off64_t offset, int whence), SEEK())
CHAINED(off_t, lseek, (int fd, off_t offset, int whence), SEEK())
