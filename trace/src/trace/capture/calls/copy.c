/* Calls that copy data between descriptors: one read and one write of the same operation. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

static void side_begin(struct side* side, bool write) {
  side->description = table_find(side->fd);
  if (side->at_position && !chain_inside()) moving_begin(&side->moving, side->description, side->fd, write);
}

/* The common properties of both sides of a call. */
struct copy_properties {
  uint64_t operation;
  int64_t start;
  int64_t end;
  int64_t length;
  int64_t result;
};

static void side_end(struct side* side, bool write, const struct copy_properties* call) {
  const struct description* description = side->description;
  int64_t offset = side->offset;
  if (side->at_position)
    offset = description == NULL ? -1 : moving_end(&side->moving, side->description, side->fd, call->result);
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

static long ask(const struct copy_call* q, uint64_t operation) {
  if (q->next != CHAIN_END) return chain_call(q->next, operation, ARGUMENTS(q->a, q->b, q->c, q->d, q->e, q->f));
  int type;
  const bool may = q->cancelled && cancel_begin(&type);
  const long result = RAW6(q->number, q->a, q->b, q->c, q->d, q->e, q->f);
  if (may) cancel_end(type);
  return result;
}

long capture_copy(struct copy_call* q, uintptr_t caller) {
  const bool inside = chain_inside();
  if (!capture_wanted(caller) || (inside && q->next != CHAIN_END)) return ask(q, capture_chain_operation);
  side_begin(&q->from, false);
  side_begin(&q->to, true);
  const uint64_t operation = inside ? capture_chain_operation : plait_events_operation();
  const int64_t start = plait_events_now();
  const long result = ask(q, operation);
  const int64_t end = plait_events_now();
  if (q->counted && q->next == CHAIN_END && result > 0) {
    account_read(result);
    account_write(result);
  }
  const struct copy_properties call = {operation, start, end, q->length, result};
  side_end(&q->from, false, &call);
  side_end(&q->to, true, &call);
  return result;
}

static struct side make_side(int fd, const int64_t* offset) {
  int64_t explicit_offset = -1;
  if (offset != NULL && !capture_peek(offset, &explicit_offset, sizeof explicit_offset)) explicit_offset = -1;
  return (struct side){.fd = fd, .offset = explicit_offset, .at_position = offset == NULL};
}

struct copy_call capture_parse_copying(long number, const long argument[6]) {
  const long a = argument[0], b = argument[1], c = argument[2], d = argument[3], e = argument[4];
  struct copy_call q = {.number = number, .a = a, .b = b, .c = c, .d = d, .e = e, .f = argument[5]};
  if (number == SYS_sendfile) {
    q.from = make_side((int)b, (const int64_t*)c);
    q.to = make_side((int)a, NULL);
    q.length = d;
  } else if (number == SYS_tee) {
    q.from = make_side((int)a, NULL);
    q.to = make_side((int)b, NULL);
    q.length = c;
  } else {
    q.from = make_side((int)a, (const int64_t*)b);
    q.to = make_side((int)c, (const int64_t*)d);
    q.length = e;
  }
  // The kernel does not count the bytes of splice and tee.
  q.counted = number == SYS_sendfile || number == SYS_copy_file_range;
  return q;
}

#define COPY(NUMBER, CANCELLED, ...)                                                \
  struct copy_call q = capture_parse_copying(NUMBER, (const long[6]){__VA_ARGS__}); \
  q.next = next;                                                                    \
  q.cancelled = CANCELLED;                                                          \
  return answer(next, capture_copy(&q, CALLER()));

#define SENDFILE() COPY(SYS_sendfile, false, to, from, (long)offset, (long)size)
BOTH(ssize_t, sendfile64, (int to, int from, off64_t* offset, size_t size), SENDFILE())
CHAINED(ssize_t, sendfile, (int to, int from, off_t* offset, size_t size), SENDFILE())

#define BETWEEN int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags
#define FROM_TO from, (long)from_offset, to, (long)to_offset, (long)size, flags
BOTH(ssize_t, copy_file_range, (BETWEEN), COPY(SYS_copy_file_range, true, FROM_TO))
// vmsplice is not among these: it moves memory into a pipe.
BOTH(ssize_t, splice, (BETWEEN), COPY(SYS_splice, true, FROM_TO))
BOTH(ssize_t, tee, (int from, int to, size_t size, unsigned flags), COPY(SYS_tee, true, from, to, (long)size, flags))
