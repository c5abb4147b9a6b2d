/* Calls that move data from descriptor to descriptor: one read and one write of the same operation. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"
#include "trace/capture/names.h"

static void side_begin(struct side* side, bool write) {
  side->description = table_find(side->fd);
  if (side->at_position) moving_begin(&side->moving, side->description, side->fd, write);
}

/* What both sides of a call have in common. */
struct copied {
  uint64_t operation;
  int64_t start;
  int64_t end;
  int64_t length;
  int64_t result;
};

static void side_end(struct side* side, bool write, const struct copied* call) {
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
      .flags = (uint16_t)(PLAIT_EVENT_LOGICAL | (side->at_position ? PLAIT_EVENT_AT_POSITION : 0))};
  plait_events_put(&event);
}

static long ask(const struct copying* q) {
  int type;
  const bool may = q->cancelled && cancel_begin(&type);
  const long result = RAW6(q->number, q->a, q->b, q->c, q->d, q->e, q->f);
  if (may) cancel_end(type);
  return result;
}

long capture_copy(struct copying* q, uintptr_t caller) {
  if (!capture_wanted(caller)) return ask(q);
  side_begin(&q->from, false);
  side_begin(&q->to, true);
  const uint64_t operation = plait_events_operation();
  const int64_t start = plait_events_now();
  const long result = ask(q);
  const int64_t end = plait_events_now();
  if (q->counted && result > 0) {
    account_read(result);
    account_write(result);
  }
  const struct copied call = {operation, start, end, q->length, result};
  side_end(&q->from, false, &call);
  side_end(&q->to, true, &call);
  return result;
}

struct side side_of(int fd, const int64_t* offset) {
  int64_t given = -1;
  if (offset != NULL && !capture_peek(offset, &given, sizeof given)) given = -1;
  return (struct side){.fd = fd, .offset = given, .at_position = offset == NULL};
}

EXPORT ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) {
  struct copying q = {.number = SYS_sendfile,
                      .a = to,
                      .b = from,
                      .c = (long)offset,
                      .d = (long)size,
                      .from = side_of(from, offset),
                      .to = side_of(to, NULL),
                      .length = (int64_t)size,
                      .counted = true};
  return told(capture_copy(&q, CALLER()));
}
ALIAS(ssize_t, sendfile, sendfile64, (int, int, off_t*, size_t));

EXPORT ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size,
                               unsigned flags) {
  struct copying q = {.number = SYS_copy_file_range,
                      .a = from,
                      .b = (long)from_offset,
                      .c = to,
                      .d = (long)to_offset,
                      .e = (long)size,
                      .f = flags,
                      .from = side_of(from, from_offset),
                      .to = side_of(to, to_offset),
                      .length = (int64_t)size,
                      .counted = true,
                      .cancelled = true};
  return told(capture_copy(&q, CALLER()));
}

// The kernel does not count what splice and tee move; vmsplice moves memory into a pipe.
EXPORT ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  struct copying q = {.number = SYS_splice,
                      .a = from,
                      .b = (long)from_offset,
                      .c = to,
                      .d = (long)to_offset,
                      .e = (long)size,
                      .f = flags,
                      .from = side_of(from, from_offset),
                      .to = side_of(to, to_offset),
                      .length = (int64_t)size,
                      .cancelled = true};
  return told(capture_copy(&q, CALLER()));
}
EXPORT ssize_t tee(int from, int to, size_t size, unsigned flags) {
  struct copying q = {.number = SYS_tee,
                      .a = from,
                      .b = to,
                      .c = (long)size,
                      .d = flags,
                      .from = side_of(from, NULL),
                      .to = side_of(to, NULL),
                      .length = (int64_t)size,
                      .cancelled = true};
  return told(capture_copy(&q, CALLER()));
}
