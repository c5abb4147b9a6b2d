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

static long ask_to_close(int fd, struct next_call* next, bool may) {
  if (next != CHAIN_END) return chain_call(next, 0, ARGUMENTS(fd));
  int type;
  may = may && cancel_begin(&type);
  const long result = RAW1(SYS_close, fd);
  if (may) cancel_end(type);
  return result;
}

static long close_and_record(int fd, uintptr_t caller, struct next_call* next, bool may) {
  if ((next != CHAIN_END && chain_inside()) || !capture_table_wanted(caller)) return ask_to_close(fd, next, may);
  // The description is removed from the table first, because another thread may get the same number as soon as it is
  // closed.
  struct description* description = table_take(fd);
  uring_remove(fd);
  const int64_t start = capture_now();
  const long result = ask_to_close(fd, next, may);
  if (description != NULL) table_release(description, start, caller);
  return result;
}

long capture_close(int fd, uintptr_t caller) { return close_and_record(fd, caller, CHAIN_END, false); }

BOTH(int, close, (int fd), return (int)answer(next, close_and_record(fd, CALLER(), next, true));)
int patched_close_nocancel(int fd);
PATCHED(int, close_nocancel, (int fd), return (int)answer(next, close_and_record(fd, CALLER(), next, false));)

long capture_close_range(unsigned first, unsigned last, int flags, struct next_call* next, uintptr_t caller) {
  const bool closes = first <= last && ((unsigned)flags & ~2U) == 0;  // the 2 is CLOSE_RANGE_UNSHARE
  // Our mappings of a ring would keep it open.
  if (closes && capture_table_wanted(caller)) uring_remove_range(first, last);
  const int64_t start = capture_now();
  const long result = next != CHAIN_END ? chain_call(next, 0, ARGUMENTS(first, last, flags))
                                        : RAW3(SYS_close_range, first, last, flags);
  if (result == 0 && !((unsigned)flags & CLOSE_RANGE_CLOEXEC) && capture_table_wanted(caller))
    table_close_range(first, last, start, caller);
  return result;
}

int close_range(unsigned first, unsigned last, int flags);  // declared by glibc since 2.34
BOTH(int, close_range, (unsigned first, unsigned last, int flags),
     return (int)answer(next, capture_close_range(first, last, flags, next, CALLER()));)

static void put_duplicate(int from, int64_t start, uintptr_t caller) {
  const struct description* description = table_known(from);
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

static long ask_to_duplicate(const struct duplication* q) {
  const long arguments[6] = {q->from, q->to, q->flags};
  return q->next != CHAIN_END ? chain_call(q->next, 0, arguments) : RAW3(q->number, q->from, q->to, q->flags);
}

static long duplicate(const struct duplication* q, uintptr_t caller) {
  if (q->next != CHAIN_END && chain_inside()) return ask_to_duplicate(q);
  const long number = q->number;
  const int from = q->from;
  const int to = q->to;
  // dup2 closes a ring whose number it takes over. Our mappings would keep the ring open.
  const bool closes = number != SYS_dup && from != to && capture_table_wanted(caller) && uring_known(to);
  if (closes && RAW2(SYS_fcntl, from, F_GETFD) >= 0) uring_remove(to);
  const int64_t start = capture_now();
  const long result = ask_to_duplicate(q);
  if (result < 0 || result == from || !capture_table_wanted(caller)) return result;
  table_duplicate(from, (int)result);
  put_duplicate(from, start, caller);
  return result;
}

long capture_duplicate(long number, int from, int to, int flags, uintptr_t caller) {
  return duplicate(&(struct duplication){CHAIN_END, number, from, to, flags}, caller);
}

#define DUPLICATE(NUMBER, FROM, TO, FLAGS) \
  return (int)answer(next, duplicate(&(struct duplication){next, NUMBER, FROM, TO, FLAGS}, CALLER()));

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

static long ask_to_control(const struct control* q, bool waits) {
  if (q->next != CHAIN_END) return chain_call(q->next, 0, ARGUMENTS(q->fd, q->command, q->argument));
  if (q->command == F_GETOWN) {  // process groups are returned as negative numbers, which look like errors
    struct f_owner_ex owner;
    const long result = RAW3(SYS_fcntl, q->fd, F_GETOWN_EX, &owner);
    return result < 0 ? result : owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid;
  }
  int type;
  const bool may = waits && (q->command == F_SETLKW || q->command == F_OFD_SETLKW) && cancel_begin(&type);
  const long result = RAW3(SYS_fcntl, q->fd, q->command, q->argument);
  if (may) cancel_end(type);
  return result;
}

static long control(const struct control* q, uintptr_t caller, bool may) {
  const int64_t start = capture_now();
  const long result = ask_to_control(q, may);
  const bool duplicates = q->command == F_DUPFD || q->command == F_DUPFD_CLOEXEC;
  if (result < 0 || !(duplicates || q->command == F_SETFL) || !capture_table_wanted(caller)) return result;
  if (q->next != CHAIN_END && chain_inside()) return result;
  if (duplicates) {
    table_duplicate(q->fd, (int)result);
    put_duplicate(q->fd, start, caller);
  } else {
    table_set_status(q->fd, (int)q->argument);
  }
  return result;
}

long capture_control(int fd, int command, long argument, uintptr_t caller, bool may) {
  return control(&(struct control){CHAIN_END, fd, command, argument}, caller, may);
}

#define CONTROL(MAY)                                                                                               \
  va_list list;                                                                                                    \
  va_start(list, command);                                                                                         \
  const long argument = va_arg(list, long);                                                                        \
  va_end(list);                                                                                                    \
  const long result = control(&(struct control){next, fd, command, argument}, CALLER(), MAY);                      \
  const bool group = next == CHAIN_END && command == F_GETOWN && result > -4096 && result < 0 && result != -EBADF; \
  return group ? (int)result : (int)answer(next, result);

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

static long seek(const struct seek_call* q, uintptr_t caller) {
  const long arguments[6] = {q->fd, q->offset, q->whence};
  if (!capture_wanted(caller) || chain_inside())
    return q->next != CHAIN_END ? chain_call(q->next, 0, arguments) : RAW3(SYS_lseek, q->fd, q->offset, q->whence);
  struct description* description = table_find(q->fd);
  struct position_change moving = {0};
  moving_begin(&moving, description, q->fd, false);
  const int64_t start = capture_now();
  const long result =
      q->next != CHAIN_END ? chain_call(q->next, 0, arguments) : RAW3(SYS_lseek, q->fd, q->offset, q->whence);
  if (description != NULL) moving_set(&moving, description, result);
  put_event((struct plait_event){.kind = PLAIT_EVENT_SEEK,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                 .file = description == NULL ? 0 : atomic_load(&description->file),
                                 .start = start,
                                 .offset = result < 0 ? -1 : result,
                                 .result = result < 0 ? result : 0});
  return result;
}

long capture_seek(int fd, int64_t offset, int whence, uintptr_t caller) {
  return seek(&(struct seek_call){CHAIN_END, fd, offset, whence}, caller);
}

#define SEEK() return answer(next, seek(&(struct seek_call){next, fd, offset, whence}, CALLER()));
BOTH(off64_t, lseek64, (int fd, off64_t offset, int whence), SEEK())
CHAINED(off_t, lseek, (int fd, off_t offset, int whence), SEEK())
