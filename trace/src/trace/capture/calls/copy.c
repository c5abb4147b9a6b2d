/* Calls that copy data between descriptors, such as sendfile. Each is recorded as a read and a write with one operation
 * number. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

static void begin_side(struct side* side, bool write) {
  side->description = table_find(side->fd);
  if (side->at_position && !chain_inside())
    position_begin_call(&side->position_use, side->description, side->fd, write);
}

/* The common properties of both sides of a call. */
struct copy_properties {
  uint64_t operation;
  int64_t start;
  int64_t end;
  int64_t length;
  int64_t result;
};

static void end_side(struct side* side, bool write, const struct copy_properties* call) {
  const struct description* description = side->description;
  int64_t offset = side->offset;
  if (side->at_position)
    offset =
        description == NULL ? -1 : position_end_call(&side->position_use, side->description, side->fd, call->result);
  const struct plait_event event = {
      .start = call->start,
      .duration = call->end - call->start,
      .offset = offset,
      .length = call->length,
      .result = call->result,
      .operation = call->operation,
      .file = description == NULL ? 0 : atomic_load(&description->file),
      .kind = write ? PLAIT_EVENT_WRITE : PLAIT_EVENT_READ,
      .interface = PLAIT_INTERFACE_COPY,
      .flags = (uint16_t)(capture_level() | (side->at_position ? PLAIT_EVENT_AT_POSITION : 0))};
  plait_events_put(&event);
}

static long call_copy(const struct copy_call* copying, uint64_t operation) {
  if (copying->next != CHAIN_END)
    return chain_call(copying->next, operation,
                      ARGUMENTS(copying->a, copying->b, copying->c, copying->d, copying->e, copying->f));
  int type;
  const bool may_cancel = copying->cancellable && cancel_begin(&type);
  const long result = RAW6(copying->number, copying->a, copying->b, copying->c, copying->d, copying->e, copying->f);
  if (may_cancel) cancel_end(type);
  return result;
}

long capture_copy(struct copy_call* copying, uintptr_t caller) {
  const bool inside = chain_inside();
  if (!capture_should_record(caller) || (inside && copying->next != CHAIN_END))
    return call_copy(copying, capture_chain_operation);
  begin_side(&copying->from, false);
  begin_side(&copying->to, true);
  const uint64_t operation = inside ? capture_chain_operation : plait_events_operation();
  const int64_t start = plait_events_now();
  const long result = call_copy(copying, operation);
  const int64_t end = plait_events_now();
  if (copying->is_counted_by_kernel && copying->next == CHAIN_END && result > 0) {
    account_read(result);
    account_write(result);
  }
  const struct copy_properties call = {operation, start, end, copying->length, result};
  end_side(&copying->from, false, &call);
  end_side(&copying->to, true, &call);
  return result;
}

static struct side make_side(int fd, const int64_t* offset) {
  int64_t explicit_offset = -1;
  if (offset != NULL && !capture_peek(offset, &explicit_offset, sizeof explicit_offset)) explicit_offset = -1;
  return (struct side){.fd = fd, .offset = explicit_offset, .at_position = offset == NULL};
}

struct copy_call capture_parse_copying(long number, const long argument[6]) {
  const long a = argument[0], b = argument[1], c = argument[2], d = argument[3], e = argument[4];
  struct copy_call copying = {.number = number, .a = a, .b = b, .c = c, .d = d, .e = e, .f = argument[5]};
  if (number == SYS_sendfile) {
    copying.from = make_side((int)b, (const int64_t*)c);
    copying.to = make_side((int)a, NULL);
    copying.length = d;
  } else if (number == SYS_tee) {
    copying.from = make_side((int)a, NULL);
    copying.to = make_side((int)b, NULL);
    copying.length = c;
  } else {
    copying.from = make_side((int)a, (const int64_t*)b);
    copying.to = make_side((int)c, (const int64_t*)d);
    copying.length = e;
  }
  // The kernel does not count the bytes of splice and tee.
  copying.is_counted_by_kernel = number == SYS_sendfile || number == SYS_copy_file_range;
  return copying;
}

#define COPY(NUMBER, CANCELLABLE, ...)                                                    \
  struct copy_call copying = capture_parse_copying(NUMBER, (const long[6]){__VA_ARGS__}); \
  copying.next = next;                                                                    \
  copying.cancellable = CANCELLABLE;                                                      \
  return library_result(next, capture_copy(&copying, CALLER()));

#define SENDFILE() COPY(SYS_sendfile, false, to, from, (long)offset, (long)size)
BOTH(ssize_t, sendfile64, (int to, int from, off64_t* offset, size_t size), SENDFILE())
CHAINED(ssize_t, sendfile, (int to, int from, off_t* offset, size_t size), SENDFILE())

#define BETWEEN int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags
#define FROM_TO from, (long)from_offset, to, (long)to_offset, (long)size, flags
BOTH(ssize_t, copy_file_range, (BETWEEN), COPY(SYS_copy_file_range, true, FROM_TO))
// vmsplice is not among these: it moves memory into a pipe.
BOTH(ssize_t, splice, (BETWEEN), COPY(SYS_splice, true, FROM_TO))
BOTH(ssize_t, tee, (int from, int to, size_t size, unsigned flags), COPY(SYS_tee, true, from, to, (long)size, flags))
