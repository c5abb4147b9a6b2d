/* Calls that open. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"
#include "trace/capture/names.h"

static void put_open(const char* name, int flags, int64_t start, long result, uintptr_t caller) {
  const int64_t duration = plait_events_now() - start;
  unsigned about = PLAIT_EVENT_LOGICAL;
  if (flags & O_CREAT) about |= PLAIT_EVENT_CREATE;
  if ((flags & O_ACCMODE) == O_RDONLY) about |= PLAIT_EVENT_READ_ONLY;
  if (flags & O_APPEND) about |= PLAIT_EVENT_APPEND;
  if (flags & O_DIRECT) about |= PLAIT_EVENT_DIRECT;
  if (flags & O_DSYNC) about |= PLAIT_EVENT_DURABLE;  // O_SYNC has this bit too
  uint32_t file;
  if (result >= 0) {
    const struct description* description = table_open((int)result, name, flags);
    file = description == NULL ? 0 : atomic_load(&description->file);
  } else {
    file = plait_events_name(name);
  }
  const struct plait_event event = {.start = start,
                                    .duration = duration,
                                    .offset = -1,
                                    .result = result < 0 ? result : 0,
                                    .file = file,
                                    .kind = PLAIT_EVENT_OPEN,
                                    .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                    .flags = (uint16_t)about};
  plait_events_put(&event);
}

/* What openat gets. */
struct wanted {
  int directory;
  const char* path;
  int flags;
  unsigned mode;
};

static long ask(const struct wanted* wanted) {
  return RAW4(SYS_openat, wanted->directory, wanted->path, wanted->flags, wanted->mode);
}

static long open_and_record(const struct wanted* wanted, uintptr_t caller, bool may) {
  if (!capture_table_wanted(caller)) {
    int type;
    may = may && cancel_begin(&type);
    const long result = ask(wanted);
    if (may) cancel_end(type);
    return result;
  }
  if (UNLIKELY(atomic_load(&account_loading))) account_loaded();
  const int64_t start = plait_events_now();
  int type;
  may = may && cancel_begin(&type);
  const long result = ask(wanted);
  if (may) cancel_end(type);
  // Paths below another directory than the root are asked of the system, so that each name means one file.
  if (result != -EFAULT) put_open(wanted->path, wanted->flags, start, result, caller);
  return result;
}

long capture_openat(int directory, const char* path, int flags, unsigned mode, uintptr_t caller) {
  return open_and_record(&(struct wanted){directory, path, flags, mode}, caller, false);
}

// The mode comes only with a flag that makes a file, but lies in a register in any case.
#define MODE(FLAGS)                                                \
  unsigned mode = 0;                                               \
  if (((FLAGS) & O_CREAT) || ((FLAGS) & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                                  \
    va_start(list, flags);                                         \
    mode = va_arg(list, unsigned);                                 \
    va_end(list);                                                  \
  }

EXPORT int open64(const char* path, int flags, ...) {
  MODE(flags)
  return (int)told(open_and_record(&(struct wanted){AT_FDCWD, path, flags, mode}, CALLER(), true));
}
EXPORT int openat64(int directory, const char* path, int flags, ...) {
  MODE(flags)
  return (int)told(open_and_record(&(struct wanted){directory, path, flags, mode}, CALLER(), true));
}
int capture_open64_nocancel(const char* path, int flags, ...) {
  MODE(flags)
  return (int)told(open_and_record(&(struct wanted){AT_FDCWD, path, flags, mode}, CALLER(), false));
}
int capture_openat64_nocancel(int directory, const char* path, int flags, ...) {
  MODE(flags)
  return (int)told(open_and_record(&(struct wanted){directory, path, flags, mode}, CALLER(), false));
}
EXPORT int creat64(const char* path, mode_t mode) {
  return (int)told(
      open_and_record(&(struct wanted){AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode}, CALLER(), true));
}
ALIAS(int, open, open64, (const char*, int, ...));
ALIAS(int, openat, openat64, (int, const char*, int, ...));
ALIAS(int, creat, creat64, (const char*, mode_t));

// What fortified programs call where no mode is needed.
EXPORT int __open64_2(const char* path, int flags) {
  return (int)told(open_and_record(&(struct wanted){AT_FDCWD, path, flags, 0}, CALLER(), true));
}
EXPORT int __openat64_2(int directory, const char* path, int flags) {
  return (int)told(open_and_record(&(struct wanted){directory, path, flags, 0}, CALLER(), true));
}
ALIAS(int, __open_2, __open64_2, (const char*, int));
ALIAS(int, __openat_2, __openat64_2, (int, const char*, int));
