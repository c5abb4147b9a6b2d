/*
 * Calls that transfer data: read, pwrite, readv and similar ones, under all their names.
 *
 * The path of one call: decide if it is recorded, take the start time, make the system call (or call the next
 * library), take the end time, add the result to the counters that are compared with the kernel's, determine the
 * offset (position.c), and write the event.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

bool capture_peek(const void* from, void* to, size_t size) {
  const struct iovec there = {(void*)(uintptr_t)from, size};
  const struct iovec here = {to, size};
  const long result = RAW6(SYS_process_vm_readv, RAW0(SYS_getpid), &here, 1, &there, 1, 0);
  if (result != -ENOSYS && result != -EPERM) return result == (long)size;
  memcpy(to, from, size);  // process_vm_readv is forbidden here, so the memory is read directly
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

// True if the kernel counts a call with this result. This only affects the number of calls, not the bytes.
static inline __attribute__((always_inline)) bool is_counted_by_kernel(const struct request* request, long result) {
  return result >= 0 || (request->vector ? true : result != -EBADF && result != -ESPIPE);
}

// Adds a call to the counters that account.c compares with the kernel's.
static inline __attribute__((always_inline)) void count_transfer(const struct request* request, long result) {
  if (!is_counted_by_kernel(request, result)) return;
  if (request->kind == PLAIT_EVENT_READ)
    account_read(result);
  else
    account_write(result);
}

// Calls the next library's function. Its arguments differ from the kernel's only in preadv2 and pwritev2, whose kernel
// form has the flags one argument later.
static __attribute__((noinline)) long call_next_library(const struct request* request, uint64_t operation) {
  const bool takes_flags = request->number == SYS_preadv2 || request->number == SYS_pwritev2;
  return chain_call(request->next, operation,
                    ARGUMENTS(request->fd, request->data, request->size, request->third,
                              takes_flags ? request->fifth : request->fourth, request->fifth));
}

// Makes the call. waits: the thread may be cancelled in it.
static inline __attribute__((always_inline)) long make_call(const struct request* request, bool waits,
                                                            uint64_t operation) {
  if (UNLIKELY(request->next != CHAIN_END)) return call_next_library(request, operation);
  int type;
  const bool may_cancel = waits && cancel_begin(&type);
  const long result =
      RAW6(request->number, request->fd, request->data, request->size, request->third, request->fourth, request->fifth);
  if (may_cancel) cancel_end(type);
  return result;
}

// Returns the offset of an appending write that specified an offset, which the kernel ignores: it writes at the end of
// the file. Called before the write with a size of -1, it returns the size of the file; called after the write with
// that size, it returns the offset.
static int64_t appended_at(int fd, int64_t size_before, long result);

// Returns the number of bytes that a call with this result requested.
static inline __attribute__((always_inline)) int64_t requested_length(const struct request* request, long result) {
  if (!request->vector) return request->size;
  // The vector is read after the kernel has read it. After these errors the kernel may not have read it, or could not.
  const bool read_by_kernel =
      result >= 0 || (result != -EBADF && result != -EINVAL && result != -ESPIPE && result != -EFAULT);
  return capture_vector_length((const struct iovec*)request->data, (int)request->size, read_by_kernel);
}

// Returns the flags of the event of a call.
static inline __attribute__((always_inline)) uint16_t event_flags(const struct request* request,
                                                                  uint32_t description_flags, bool inside,
                                                                  bool posix_aio) {
  const bool writes = request->kind == PLAIT_EVENT_WRITE;
  return (uint16_t)((inside ? 0 : PLAIT_EVENT_LOGICAL) | (posix_aio ? PLAIT_EVENT_ASYNCHRONOUS : 0) |
                    (request->at_position ? PLAIT_EVENT_AT_POSITION : 0) |
                    (description_flags & DESCRIPTION_DIRECT ? PLAIT_EVENT_DIRECT : 0) |
                    (writes && (description_flags & DESCRIPTION_APPEND) ? PLAIT_EVENT_APPEND : 0) |
                    (writes && (description_flags & DESCRIPTION_DURABLE) ? PLAIT_EVENT_DURABLE : 0));
}

static inline __attribute__((always_inline)) long transfer(uintptr_t caller, struct request request) {
  // True if another preloaded library makes this call to carry out a recorded call of the program.
  const bool inside = chain_inside();
  if (UNLIKELY(!capture_should_record(caller) || (inside && request.next != CHAIN_END))) {
    const long result = make_call(&request, request.cancellable, capture_chain_operation);
    if (request.next == CHAIN_END && capture_is_own(caller)) count_transfer(&request, result);
    return result;
  }
  struct description* description = table_find_known(request.fd);
  if (UNLIKELY(description == NULL)) description = table_find(request.fd);
  uint32_t description_flags =
      description == NULL ? 0 : atomic_load_explicit(&description->flags, memory_order_relaxed);
  const uint32_t file = description == NULL ? 0 : atomic_load_explicit(&description->file, memory_order_relaxed);
  // A call on a file does not wait for other processes. The thread may be cancelled before it, but not in it.
  const bool waits = request.cancellable && !(description_flags & DESCRIPTION_SEEKABLE);
  if (request.cancellable && !waits && request.next == CHAIN_END) cancel_here();
  struct position_use position_use = {0};
  int64_t offset = description_flags & DESCRIPTION_SEEKABLE ? request.offset : -1;
  int64_t size_before = -1;
  if (UNLIKELY(request.fifth & RWF_APPEND) && request.kind == PLAIT_EVENT_WRITE) {
    // The position moves to the end of the file, so from now on the kernel is queried for it.
    if (request.at_position && description != NULL) atomic_fetch_or(&description->flags, DESCRIPTION_SHARED);
    description_flags |= DESCRIPTION_APPEND;
  }
  if (UNLIKELY(request.fifth & (RWF_DSYNC | RWF_SYNC))) description_flags |= DESCRIPTION_DURABLE;
  // Within a recorded call of the program, the outer call already tracks the file position.
  if (request.at_position && LIKELY(!inside))
    position_begin_call(&position_use, description, request.fd, request.kind == PLAIT_EVENT_WRITE);
  else if (UNLIKELY(request.kind == PLAIT_EVENT_WRITE && (description_flags & DESCRIPTION_APPEND) && offset >= 0))
    size_before = appended_at(request.fd, -1, 0);
  const uint64_t operation = UNLIKELY(request.next != CHAIN_END) ? plait_events_operation()
                             : inside                            ? capture_chain_operation
                                                                 : 0;
  if (request.kind == PLAIT_EVENT_READ) account_mark_reading(1);
  const int64_t start = plait_clock_now();
  const long result = make_call(&request, waits, operation);
  const int64_t end = plait_clock_now();
  // Otherwise the kernel counts the system calls of the next library.
  if (LIKELY(request.next == CHAIN_END)) count_transfer(&request, result);
  if (request.kind == PLAIT_EVENT_READ) account_mark_reading(0);
  const int64_t length = requested_length(&request, result);
  if (request.at_position && description != NULL)
    offset = position_end_call(&position_use, description, request.fd, result);
  if (UNLIKELY(size_before >= 0)) offset = appended_at(request.fd, size_before, result);
  // Only the C library's threads for aio_read and similar functions call pread from inside the C library.
  const bool posix_aio = request.positioned && text_has(&capture_libc_text, caller);
  const struct plait_event event = {
      .start = start,
      .duration = end - start,
      .offset = offset,
      .length = length,
      .result = result,
      .operation = operation,
      .file = file,
      .kind = (uint8_t)request.kind,
      .interface = posix_aio
                       ? PLAIT_INTERFACE_POSIX_AIO
                       : capture_interface(caller, request.vector ? PLAIT_INTERFACE_VECTOR : PLAIT_INTERFACE_POSIX),
      .flags = event_flags(&request, description_flags, inside, posix_aio)};
  plait_events_put(&event);
  return result;
}

static int64_t appended_at(int fd, int64_t size_before, long result) {
  const int64_t size = position_size(fd);
  if (size_before < 0) return size;
  return result >= 0 && size - size_before == result ? size_before : -1;
}

long capture_transfer(const struct request* request, uintptr_t caller) { return transfer(caller, *request); }

// Calls at the position of the open file (PLAIN, VECTOR) and at an offset (AT, VECTOR_AT). The kernel takes an offset
// as two words; on 64-bit machines the first word contains all of it.
#define PLAIN(NUMBER, KIND, CANCELLABLE)                                        \
  library_result(next, transfer(CALLER(), (struct request){.next = next,        \
                                                           .number = NUMBER,    \
                                                           .fd = fd,            \
                                                           .data = (long)data,  \
                                                           .size = (long)size,  \
                                                           .kind = KIND,        \
                                                           .offset = -1,        \
                                                           .at_position = true, \
                                                           .cancellable = CANCELLABLE}))
#define AT(NUMBER, KIND, CANCELLABLE)                                                  \
  library_result(next, transfer(CALLER(), (struct request){.next = next,               \
                                                           .number = NUMBER,           \
                                                           .fd = fd,                   \
                                                           .data = (long)data,         \
                                                           .size = (long)size,         \
                                                           .third = offset,            \
                                                           .kind = KIND,               \
                                                           .offset = offset,           \
                                                           .cancellable = CANCELLABLE, \
                                                           .positioned = CANCELLABLE}))

BOTH(ssize_t, read, (int fd, void* data, size_t size), return PLAIN(SYS_read, PLAIT_EVENT_READ, true);)
BOTH(ssize_t, write, (int fd, const void* data, size_t size), return PLAIN(SYS_write, PLAIT_EVENT_WRITE, true);)
ssize_t patched_read_nocancel(int fd, void* data, size_t size);
ssize_t patched_write_nocancel(int fd, const void* data, size_t size);
ssize_t patched_pread64_nocancel(int fd, void* data, size_t size, off64_t offset);
PATCHED(ssize_t, read_nocancel, (int fd, void* data, size_t size), return PLAIN(SYS_read, PLAIT_EVENT_READ, false);)
PATCHED(ssize_t, write_nocancel, (int fd, const void* data, size_t size),
        return PLAIN(SYS_write, PLAIT_EVENT_WRITE, false);)
BOTH(ssize_t, pread64, (int fd, void* data, size_t size, off64_t offset),
     return AT(SYS_pread64, PLAIT_EVENT_READ, true);)
BOTH(ssize_t, pwrite64, (int fd, const void* data, size_t size, off64_t offset),
     return AT(SYS_pwrite64, PLAIT_EVENT_WRITE, true);)
PATCHED(ssize_t, pread64_nocancel, (int fd, void* data, size_t size, off64_t offset),
        return AT(SYS_pread64, PLAIT_EVENT_READ, false);)
CHAINED(ssize_t, pread, (int fd, void* data, size_t size, off_t offset),
        return AT(SYS_pread64, PLAIT_EVENT_READ, true);)
CHAINED(ssize_t, pwrite, (int fd, const void* data, size_t size, off_t offset),
        return AT(SYS_pwrite64, PLAIT_EVENT_WRITE, true);)

#define VECTOR(NUMBER, KIND)                                                    \
  library_result(next, transfer(CALLER(), (struct request){.next = next,        \
                                                           .number = NUMBER,    \
                                                           .fd = fd,            \
                                                           .data = (long)parts, \
                                                           .size = count,       \
                                                           .kind = KIND,        \
                                                           .offset = -1,        \
                                                           .at_position = true, \
                                                           .vector = true,      \
                                                           .cancellable = true}))
#define VECTOR_AT(NUMBER, KIND, IS_AT_POSITION, FLAGS)                                               \
  library_result(next, transfer(CALLER(), (struct request){.next = next,                             \
                                                           .number = NUMBER,                         \
                                                           .fd = fd,                                 \
                                                           .data = (long)parts,                      \
                                                           .size = count,                            \
                                                           .third = offset,                          \
                                                           .fifth = FLAGS,                           \
                                                           .kind = KIND,                             \
                                                           .offset = (IS_AT_POSITION) ? -1 : offset, \
                                                           .at_position = (IS_AT_POSITION),          \
                                                           .vector = true,                           \
                                                           .cancellable = true}))

#define PARTS int fd, const struct iovec *parts, int count
BOTH(ssize_t, readv, (PARTS), return VECTOR(SYS_readv, PLAIT_EVENT_READ);)
BOTH(ssize_t, writev, (PARTS), return VECTOR(SYS_writev, PLAIT_EVENT_WRITE);)
BOTH(ssize_t, preadv64, (PARTS, off64_t offset), return VECTOR_AT(SYS_preadv, PLAIT_EVENT_READ, false, 0);)
BOTH(ssize_t, pwritev64, (PARTS, off64_t offset), return VECTOR_AT(SYS_pwritev, PLAIT_EVENT_WRITE, false, 0);)
BOTH(ssize_t, preadv64v2, (PARTS, off64_t offset, int flags),
     return VECTOR_AT(SYS_preadv2, PLAIT_EVENT_READ, offset == -1, flags);)
BOTH(ssize_t, pwritev64v2, (PARTS, off64_t offset, int flags),
     return VECTOR_AT(SYS_pwritev2, PLAIT_EVENT_WRITE, offset == -1, flags);)
CHAINED(ssize_t, preadv, (PARTS, off_t offset), return VECTOR_AT(SYS_preadv, PLAIT_EVENT_READ, false, 0);)
CHAINED(ssize_t, pwritev, (PARTS, off_t offset), return VECTOR_AT(SYS_pwritev, PLAIT_EVENT_WRITE, false, 0);)
CHAINED(ssize_t, preadv2, (PARTS, off_t offset, int flags),
        return VECTOR_AT(SYS_preadv2, PLAIT_EVENT_READ, offset == -1, flags);)
CHAINED(ssize_t, pwritev2, (PARTS, off_t offset, int flags),
        return VECTOR_AT(SYS_pwritev2, PLAIT_EVENT_WRITE, offset == -1, flags);)

// Functions that fortified programs call: they pass the size of the buffer at `data`.
extern void __chk_fail(void) __attribute__((noreturn, weak));  // weak: missing in musl
#define CHECKED()                    \
  if (size > capacity) __chk_fail(); \
  struct request request = {         \
      .next = next, .fd = fd, .data = (long)data, .size = (long)size, .kind = PLAIT_EVENT_READ, .cancellable = true};
#define CHECKED_AT()               \
  CHECKED()                        \
  request.number = SYS_pread64;    \
  request.third = offset;          \
  request.offset = offset;         \
  request.fourth = (long)capacity; \
  request.positioned = true;       \
  return library_result(next, transfer(CALLER(), request));
CHAINED(ssize_t, __read_chk, (int fd, void* data, size_t size, size_t capacity), CHECKED() request.number = SYS_read;
        request.third = (long)capacity; request.offset = -1; request.at_position = true;
        return library_result(next, transfer(CALLER(), request));)
CHAINED(ssize_t, __pread_chk, (int fd, void* data, size_t size, off_t offset, size_t capacity), CHECKED_AT())
CHAINED(ssize_t, __pread64_chk, (int fd, void* data, size_t size, off64_t offset, size_t capacity), CHECKED_AT())
