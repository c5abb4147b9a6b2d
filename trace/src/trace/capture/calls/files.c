/* Calls on files that transfer no data: truncate, fallocate, fsync and similar ones. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

long capture_change(struct change change, uintptr_t caller) {
  const bool recorded = capture_should_record(caller);
  const struct description* description = recorded ? table_find(change.fd) : NULL;
  const int64_t start = capture_now();
  int type;
  const bool cancellable = change.cancellable && change.next == CHAIN_END && cancel_begin(&type);
  const long result = change.next != CHAIN_END
                          ? chain_call(change.next, 0, ARGUMENTS(change.fd, change.first, change.second, change.third))
                          : RAW4(change.number, change.fd, change.first, change.second, change.third);
  if (cancellable) cancel_end(type);
  if (recorded)
    put_event((struct plait_event){.kind = (uint8_t)change.kind,
                                   .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                   .file = description == NULL ? 0 : atomic_load(&description->file),
                                   .start = start,
                                   .offset = change.offset,
                                   .length = change.length,
                                   .result = result});
  return result;
}

long capture_truncate(const char* path, int64_t size, struct next_call* next, uintptr_t caller) {
  const bool recorded = capture_should_record(caller);
  const int64_t start = capture_now();
  const long result =
      next != CHAIN_END ? chain_call(next, 0, ARGUMENTS((long)path, size)) : RAW2(SYS_truncate, path, size);
  if (recorded && result != -EFAULT)
    put_event((struct plait_event){.kind = PLAIT_EVENT_TRUNCATE,
                                   .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                   .file = plait_events_name(path),
                                   .start = start,
                                   .offset = size,
                                   .result = result});
  return result;
}

#define CHANGE(...) \
  return (int)library_result(next, capture_change((struct change){.next = next, .fd = fd, __VA_ARGS__}, CALLER()));

#define FTRUNCATE() CHANGE(.number = SYS_ftruncate, .first = size, .kind = PLAIT_EVENT_TRUNCATE, .offset = size)
BOTH(int, ftruncate64, (int fd, off64_t size), FTRUNCATE())
CHAINED(int, ftruncate, (int fd, off_t size), FTRUNCATE())

#define TRUNCATE() return (int)library_result(next, capture_truncate(path, size, next, CALLER()));
BOTH(int, truncate64, (const char* path, off64_t size), TRUNCATE())
CHAINED(int, truncate, (const char* path, off_t size), TRUNCATE())

// fallocate changes the size of a file unless a flag forbids it. It transfers no data.
#define FALLOCATE()                                                                                               \
  CHANGE(.number = SYS_fallocate, .first = mode, .second = offset, .third = length, .kind = PLAIT_EVENT_METADATA, \
         .offset = offset, .length = length, .cancellable = true)
BOTH(int, fallocate64, (int fd, int mode, off64_t offset, off64_t length), FALLOCATE())
CHAINED(int, fallocate, (int fd, int mode, off_t offset, off_t length), FALLOCATE())

BOTH(int, fsync, (int fd), CHANGE(.number = SYS_fsync, .kind = PLAIT_EVENT_SYNC, .offset = -1, .cancellable = true))
BOTH(int, fdatasync, (int fd),
     CHANGE(.number = SYS_fdatasync, .kind = PLAIT_EVENT_SYNC, .offset = -1, .cancellable = true))
BOTH(int, sync_file_range, (int fd, off64_t offset, off64_t length, unsigned flags),
     CHANGE(.number = SYS_sync_file_range, .first = offset, .second = length, .third = (long)flags,
            .kind = PLAIT_EVENT_SYNC, .offset = offset, .length = length, .cancellable = true))
