/* Calls on files that move no data: truncating, reserving, bringing to the device. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"
#include "trace/capture/names.h"

long capture_change(struct change q, uintptr_t caller) {
  const bool wanted = capture_wanted(caller);
  const struct description* description = wanted ? table_find(q.fd) : NULL;
  const int64_t start = capture_now();
  int type;
  const bool may = q.cancelled && cancel_begin(&type);
  const long result = RAW4(q.number, q.fd, q.first, q.second, q.third);
  if (may) cancel_end(type);
  if (wanted)
    put_event((struct plait_event){.kind = (uint8_t)q.kind,
                                   .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                   .file = description == NULL ? 0 : atomic_load(&description->file),
                                   .start = start,
                                   .offset = q.offset,
                                   .length = q.length,
                                   .result = result});
  return result;
}

EXPORT int ftruncate64(int fd, off64_t size) {
  return (int)told(capture_change(
      (struct change){.number = SYS_ftruncate, .fd = fd, .first = size, .kind = PLAIT_EVENT_TRUNCATE, .offset = size},
      CALLER()));
}
ALIAS(int, ftruncate, ftruncate64, (int, off_t));

long capture_truncate(const char* path, int64_t size, uintptr_t caller) {
  const bool wanted = capture_wanted(caller);
  const int64_t start = capture_now();
  const long result = RAW2(SYS_truncate, path, size);
  if (wanted && result != -EFAULT)
    put_event((struct plait_event){.kind = PLAIT_EVENT_TRUNCATE,
                                   .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                   .file = plait_events_name(path),
                                   .start = start,
                                   .offset = size,
                                   .result = result});
  return result;
}
EXPORT int truncate64(const char* path, off64_t size) { return (int)told(capture_truncate(path, size, CALLER())); }
ALIAS(int, truncate, truncate64, (const char*, off_t));

// Reserving changes the size unless it is told to keep it; what it moves is no data.
EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
  return (int)told(capture_change((struct change){.number = SYS_fallocate,
                                                  .fd = fd,
                                                  .first = mode,
                                                  .second = offset,
                                                  .third = length,
                                                  .kind = PLAIT_EVENT_METADATA,
                                                  .offset = offset,
                                                  .length = length,
                                                  .cancelled = true},
                                  CALLER()));
}
ALIAS(int, fallocate, fallocate64, (int, int, off_t, off_t));

EXPORT int fsync(int fd) {
  return (int)told(capture_change(
      (struct change){.number = SYS_fsync, .fd = fd, .kind = PLAIT_EVENT_SYNC, .offset = -1, .cancelled = true},
      CALLER()));
}
EXPORT int fdatasync(int fd) {
  return (int)told(capture_change(
      (struct change){.number = SYS_fdatasync, .fd = fd, .kind = PLAIT_EVENT_SYNC, .offset = -1, .cancelled = true},
      CALLER()));
}
EXPORT int sync_file_range(int fd, off64_t offset, off64_t length, unsigned flags) {
  return (int)told(capture_change((struct change){.number = SYS_sync_file_range,
                                                  .fd = fd,
                                                  .first = offset,
                                                  .second = length,
                                                  .third = (long)flags,
                                                  .kind = PLAIT_EVENT_SYNC,
                                                  .offset = offset,
                                                  .length = length,
                                                  .cancelled = true},
                                  CALLER()));
}
