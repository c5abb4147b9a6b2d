/* Calls that move data: read, pwrite, readv and their like, in all their names. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"
#include "trace/capture/names.h"

bool capture_peek(const void* from, void* to, size_t size) {
  const struct iovec there = {(void*)(uintptr_t)from, size};
  const struct iovec here = {to, size};
  const long result = RAW6(SYS_process_vm_readv, RAW0(SYS_getpid), &here, 1, &there, 1, 0);
  if (result != -ENOSYS && result != -EPERM) return result == (long)size;
  memcpy(to, from, size);  // forbidden: then as it was before
  return true;
}

int64_t capture_vector_length(const struct iovec* parts, int64_t count, bool trusted) {
  int64_t length = 0;
  if (count < 0 || count > IOV_MAX) return 0;
  for (int64_t i = 0; i < count; ++i) {
    struct iovec part;
    if (trusted)
      part = parts[i];
    else if (!capture_peek(&parts[i], &part, sizeof part))
      return 0;
    length += (int64_t)part.iov_len;
  }
  return length;
}

// Whether the kernel counts a call that ended so.  Bytes are what matters; this is for the number of calls.
static inline __attribute__((always_inline)) bool counted(const struct request* q, long result) {
  return result >= 0 || (q->vector ? true : result != -EBADF && result != -ESPIPE);
}

static inline __attribute__((always_inline)) void account(const struct request* q, long result) {
  if (!counted(q, result)) return;
  if (q->kind == PLAIT_EVENT_READ)
    account_read(result);
  else
    account_write(result);
}

static inline __attribute__((always_inline)) long ask(const struct request* q, bool waits) {
  int type;
  const bool may = waits && cancel_begin(&type);
  const long result = RAW6(q->number, q->fd, q->data, q->size, q->third, q->fourth, q->fifth);
  if (may) cancel_end(type);
  return result;
}

// Where a write with an offset of its own wrote that appends: at its end, whatever it was told.
static int64_t appended_at(int fd, int64_t size_before, long result);

static inline __attribute__((always_inline)) long transfer(uintptr_t caller, struct request q) {
  if (UNLIKELY(!capture_wanted(caller))) {
    const long result = ask(&q, q.cancelled);
    if (text_has(&capture_own_text, caller) || text_has(&capture_plait_text, caller)) account(&q, result);
    return result;
  }
  struct description* description = table_known(q.fd);
  if (UNLIKELY(description == NULL)) description = table_find(q.fd);
  uint32_t about = description == NULL ? 0 : atomic_load_explicit(&description->flags, memory_order_relaxed);
  const uint32_t file = description == NULL ? 0 : atomic_load_explicit(&description->file, memory_order_relaxed);
  // A call on a file waits for nobody: a thread may be cancelled before it, and need not be in it.
  const bool waits = q.cancelled && !(about & DESCRIPTION_SEEKABLE);
  if (q.cancelled && !waits) cancel_here();
  struct moving moving = {0};
  int64_t offset = about & DESCRIPTION_SEEKABLE ? q.offset : -1;
  int64_t size_before = -1;
  if (UNLIKELY(q.fifth & RWF_APPEND) && q.kind == PLAIT_EVENT_WRITE) {
    // The position goes to the end, wherever that is: from now on it is asked for.
    if (q.at_position && description != NULL) atomic_fetch_or(&description->flags, DESCRIPTION_SHARED);
    about |= DESCRIPTION_APPEND;
  }
  if (UNLIKELY(q.fifth & (RWF_DSYNC | RWF_SYNC))) about |= DESCRIPTION_DURABLE;
  if (q.at_position)
    moving_begin(&moving, description, q.fd, q.kind == PLAIT_EVENT_WRITE);
  else if (UNLIKELY(q.kind == PLAIT_EVENT_WRITE && (about & DESCRIPTION_APPEND) && offset >= 0))
    size_before = appended_at(q.fd, -1, 0);
  const int64_t start = plait_clock_now();
  const long result = ask(&q, waits);
  const int64_t end = plait_clock_now();
  account(&q, result);
  // A vector is looked at when the kernel has done so: these are its answers where it may not have, or could not.
  const bool read_by_kernel =
      result >= 0 || (result != -EBADF && result != -EINVAL && result != -ESPIPE && result != -EFAULT);
  const int64_t length =
      q.vector ? capture_vector_length((const struct iovec*)q.data, (int)q.size, read_by_kernel) : q.size;
  if (q.at_position && description != NULL) offset = moving_end(&moving, description, q.fd, result);
  if (UNLIKELY(size_before >= 0)) offset = appended_at(q.fd, size_before, result);
  // The C library's threads for aio_read and its like are all that calls pread inside it.
  const bool posix_aio = q.positioned && text_has(&capture_libc_text, caller);
  const struct plait_event event = {
      .start = start,
      .duration = end - start,
      .offset = offset,
      .length = length,
      .result = result,
      .file = file,
      .kind = (uint8_t)q.kind,
      .interface = posix_aio ? PLAIT_INTERFACE_POSIX_AIO
                             : capture_interface(caller, q.vector ? PLAIT_INTERFACE_VECTOR : PLAIT_INTERFACE_POSIX),
      .flags = (uint16_t)(PLAIT_EVENT_LOGICAL | (posix_aio ? PLAIT_EVENT_ASYNCHRONOUS : 0) |
                          (q.at_position ? PLAIT_EVENT_AT_POSITION : 0) |
                          (about & DESCRIPTION_DIRECT ? PLAIT_EVENT_DIRECT : 0) |
                          (q.kind == PLAIT_EVENT_WRITE && (about & DESCRIPTION_APPEND) ? PLAIT_EVENT_APPEND : 0) |
                          (q.kind == PLAIT_EVENT_WRITE && (about & DESCRIPTION_DURABLE) ? PLAIT_EVENT_DURABLE : 0))};
  plait_events_put(&event);
  return result;
}

static int64_t appended_at(int fd, int64_t size_before, long result) {
  const int64_t size = position_size(fd);
  if (size_before < 0) return size;
  return result >= 0 && size - size_before == result ? size_before : -1;
}

long capture_transfer(const struct request* request, uintptr_t caller) { return transfer(caller, *request); }

// The kernel takes an offset as two words; on 64-bit machines all of it lies in the first.
#define PLAIN(NUMBER, KIND, CANCELLED)                          \
  told(transfer(CALLER(), (struct request){.number = NUMBER,    \
                                           .fd = fd,            \
                                           .data = (long)data,  \
                                           .size = (long)size,  \
                                           .kind = KIND,        \
                                           .offset = -1,        \
                                           .at_position = true, \
                                           .cancelled = CANCELLED}))
#define AT(NUMBER, KIND, CANCELLED)                                \
  told(transfer(CALLER(), (struct request){.number = NUMBER,       \
                                           .fd = fd,               \
                                           .data = (long)data,     \
                                           .size = (long)size,     \
                                           .third = offset,        \
                                           .kind = KIND,           \
                                           .offset = offset,       \
                                           .cancelled = CANCELLED, \
                                           .positioned = CANCELLED}))

EXPORT ssize_t read(int fd, void* data, size_t size) { return PLAIN(SYS_read, PLAIT_EVENT_READ, true); }
EXPORT ssize_t write(int fd, const void* data, size_t size) { return PLAIN(SYS_write, PLAIT_EVENT_WRITE, true); }
ssize_t capture_read_nocancel(int fd, void* data, size_t size) { return PLAIN(SYS_read, PLAIT_EVENT_READ, false); }
ssize_t capture_write_nocancel(int fd, const void* data, size_t size) {
  return PLAIN(SYS_write, PLAIT_EVENT_WRITE, false);
}
EXPORT ssize_t pread64(int fd, void* data, size_t size, off64_t offset) {
  return AT(SYS_pread64, PLAIT_EVENT_READ, true);
}
EXPORT ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return AT(SYS_pwrite64, PLAIT_EVENT_WRITE, true);
}
ssize_t capture_pread64_nocancel(int fd, void* data, size_t size, off64_t offset) {
  return AT(SYS_pread64, PLAIT_EVENT_READ, false);
}
ALIAS(ssize_t, pread, pread64, (int, void*, size_t, off_t));
ALIAS(ssize_t, pwrite, pwrite64, (int, const void*, size_t, off_t));

#define VECTOR(NUMBER, KIND)                                    \
  told(transfer(CALLER(), (struct request){.number = NUMBER,    \
                                           .fd = fd,            \
                                           .data = (long)parts, \
                                           .size = count,       \
                                           .kind = KIND,        \
                                           .offset = -1,        \
                                           .at_position = true, \
                                           .vector = true,      \
                                           .cancelled = true}))
#define VECTOR_AT(NUMBER, KIND, EVEN, FLAGS)                               \
  told(transfer(CALLER(), (struct request){.number = NUMBER,               \
                                           .fd = fd,                       \
                                           .data = (long)parts,            \
                                           .size = count,                  \
                                           .third = offset,                \
                                           .fifth = FLAGS,                 \
                                           .kind = KIND,                   \
                                           .offset = (EVEN) ? -1 : offset, \
                                           .at_position = (EVEN),          \
                                           .vector = true,                 \
                                           .cancelled = true}))

EXPORT ssize_t readv(int fd, const struct iovec* parts, int count) { return VECTOR(SYS_readv, PLAIT_EVENT_READ); }
EXPORT ssize_t writev(int fd, const struct iovec* parts, int count) { return VECTOR(SYS_writev, PLAIT_EVENT_WRITE); }
EXPORT ssize_t preadv64(int fd, const struct iovec* parts, int count, off64_t offset) {
  return VECTOR_AT(SYS_preadv, PLAIT_EVENT_READ, false, 0);
}
EXPORT ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t offset) {
  return VECTOR_AT(SYS_pwritev, PLAIT_EVENT_WRITE, false, 0);
}
EXPORT ssize_t preadv64v2(int fd, const struct iovec* parts, int count, off64_t offset, int flags) {
  return VECTOR_AT(SYS_preadv2, PLAIT_EVENT_READ, offset == -1, flags);
}
EXPORT ssize_t pwritev64v2(int fd, const struct iovec* parts, int count, off64_t offset, int flags) {
  return VECTOR_AT(SYS_pwritev2, PLAIT_EVENT_WRITE, offset == -1, flags);
}
ALIAS(ssize_t, preadv, preadv64, (int, const struct iovec*, int, off_t));
ALIAS(ssize_t, pwritev, pwritev64, (int, const struct iovec*, int, off_t));
ALIAS(ssize_t, preadv2, preadv64v2, (int, const struct iovec*, int, off_t, int));
ALIAS(ssize_t, pwritev2, pwritev64v2, (int, const struct iovec*, int, off_t, int));

// What fortified programs call: the room behind `data` is known.
extern void __chk_fail(void) __attribute__((noreturn, weak));  // musl has none, and none of these names
EXPORT ssize_t __read_chk(int fd, void* data, size_t size, size_t room) {
  if (size > room) __chk_fail();
  return PLAIN(SYS_read, PLAIT_EVENT_READ, true);
}
EXPORT ssize_t __pread64_chk(int fd, void* data, size_t size, off64_t offset, size_t room) {
  if (size > room) __chk_fail();
  return AT(SYS_pread64, PLAIT_EVENT_READ, true);
}
ALIAS(ssize_t, __pread_chk, __pread64_chk, (int, void*, size_t, off64_t, size_t));
