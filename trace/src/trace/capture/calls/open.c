/* Calls that open files. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

/* The arguments of openat, and those of the next library's function. */
enum form { FORM_OPENAT, FORM_OPEN, FORM_CREAT };
struct open_call {
  struct next_call* next;
  enum form form;
  int directory;
  const char* path;
  int flags;
  unsigned mode;
};

// Converts flags of open into flags of events.
static unsigned event_flags(int flags) {
  unsigned about = capture_level();
  if (flags & O_CREAT) about |= PLAIT_EVENT_CREATE;
  if ((flags & O_ACCMODE) == O_RDONLY) about |= PLAIT_EVENT_READ_ONLY;
  if (flags & O_APPEND) about |= PLAIT_EVENT_APPEND;
  if (flags & O_DIRECT) about |= PLAIT_EVENT_DIRECT;
  if (flags & O_DSYNC) about |= PLAIT_EVENT_DURABLE;  // O_SYNC includes this bit
  return about;
}

// Returns the path that the program passed, made absolute.  The next library may open a file under another path.
static const char* absolute_path(const struct open_call* call, char* buffer, size_t bytes) {
  if (*call->path == '/' || call->directory != AT_FDCWD) return call->path;
  const long length = RAW2(SYS_getcwd, buffer, bytes);
  if (length <= 0 || (size_t)length + 1 + strlen(call->path) > bytes) return call->path;
  buffer[length - 1] = '/';
  strcpy(buffer + length, call->path);
  return buffer;
}

// Adds a file that the program has opened to the table.  returns  the number of its name in the trace; 0: unknown.
static uint32_t register_file(const struct open_call* call, long result) {
  if (result < 0 || chain_inside()) return plait_events_name(call->path);
  char buffer[1024];
  const char* name = call->path;
  if (call->next != CHAIN_END) name = absolute_path(call, buffer, sizeof buffer);
  const struct description* description = table_open((int)result, name, call->flags);
  return description == NULL ? 0 : atomic_load(&description->file);
}

static void put_open(const struct open_call* call, int64_t start, long result, uintptr_t caller) {
  const int64_t duration = plait_events_now() - start;
  const struct plait_event event = {.start = start,
                                    .duration = duration,
                                    .offset = -1,
                                    .result = result < 0 ? result : 0,
                                    .file = register_file(call, result),
                                    .kind = PLAIT_EVENT_OPEN,
                                    .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                    .flags = (uint16_t)event_flags(call->flags)};
  plait_events_put(&event);
}

static long make_call(const struct open_call* call, bool may_cancel) {
  const long path = (long)call->path;
  if (call->next != CHAIN_END) {
    if (call->form == FORM_OPEN) return chain_call(call->next, 0, ARGUMENTS(path, call->flags, call->mode));
    if (call->form == FORM_CREAT) return chain_call(call->next, 0, ARGUMENTS(path, call->mode));
    return chain_call(call->next, 0, ARGUMENTS(call->directory, path, call->flags, call->mode));
  }
  int type;
  may_cancel = may_cancel && cancel_begin(&type);
  const long result = RAW4(SYS_openat, call->directory, path, call->flags, call->mode);
  if (may_cancel) cancel_end(type);
  return result;
}

static long open_and_record(const struct open_call* call, uintptr_t caller, bool may_cancel) {
  const bool forwarded = call->next != CHAIN_END && chain_inside();
  if (forwarded || !capture_should_record_table(caller)) return make_call(call, may_cancel);
  if (UNLIKELY(atomic_load(&account_dlopen_called))) account_record_loader();
  const int64_t start = plait_events_now();
  const long result = make_call(call, may_cancel);
  // A path relative to a directory descriptor is resolved through the kernel, so that each name identifies one file.
  if (result != -EFAULT) put_open(call, start, result, caller);
  return result;
}

long capture_openat(int directory, const char* path, int flags, unsigned mode, uintptr_t caller) {
  return open_and_record(&(struct open_call){CHAIN_END, FORM_OPENAT, directory, path, flags, mode}, caller, false);
}

#define OPEN(FORM, DIRECTORY, FLAGS, MODE, MAY_CANCEL) \
  return (int)library_result(                          \
      next, open_and_record(&(struct open_call){next, FORM, DIRECTORY, path, FLAGS, MODE}, CALLER(), MAY_CANCEL));

// The mode is passed only with a flag that creates a file, but va_arg is safe in any case: it reads a register.
#define WITH_MODE()                                            \
  unsigned mode = 0;                                           \
  if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                              \
    va_start(list, flags);                                     \
    mode = va_arg(list, unsigned);                             \
    va_end(list);                                              \
  }
#define PLAIN_OPEN(MAY_CANCEL) WITH_MODE() OPEN(FORM_OPEN, AT_FDCWD, flags, mode, MAY_CANCEL)
#define OPEN_AT(MAY_CANCEL) WITH_MODE() OPEN(FORM_OPENAT, directory, flags, mode, MAY_CANCEL)
#define CREAT() OPEN(FORM_CREAT, AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, mode, true)

BOTH(int, open64, (const char* path, int flags, ...), PLAIN_OPEN(true))
BOTH(int, openat64, (int directory, const char* path, int flags, ...), OPEN_AT(true))
BOTH(int, creat64, (const char* path, mode_t mode), CREAT())
CHAINED(int, open, (const char* path, int flags, ...), PLAIN_OPEN(true))
CHAINED(int, openat, (int directory, const char* path, int flags, ...), OPEN_AT(true))
CHAINED(int, creat, (const char* path, mode_t mode), CREAT())
int patched_open64_nocancel(const char* path, int flags, ...);
int patched_openat64_nocancel(int directory, const char* path, int flags, ...);
PATCHED(int, open64_nocancel, (const char* path, int flags, ...), PLAIN_OPEN(false))
PATCHED(int, openat64_nocancel, (int directory, const char* path, int flags, ...), OPEN_AT(false))

// Functions that fortified programs call if they need no mode.
CHAINED(int, __open64_2, (const char* path, int flags), OPEN(FORM_OPEN, AT_FDCWD, flags, 0, true))
CHAINED(int, __openat64_2, (int directory, const char* path, int flags), OPEN(FORM_OPENAT, directory, flags, 0, true))
CHAINED(int, __open_2, (const char* path, int flags), OPEN(FORM_OPEN, AT_FDCWD, flags, 0, true))
CHAINED(int, __openat_2, (int directory, const char* path, int flags), OPEN(FORM_OPENAT, directory, flags, 0, true))
