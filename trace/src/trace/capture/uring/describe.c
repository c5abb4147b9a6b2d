/* Converts submission entries of io_uring into the fields of events. */
#define _GNU_SOURCE
#include <sys/socket.h>

#include "trace/capture/calls.h"
#include "trace/capture/uring/uring.h"

// Operations that the headers of some systems lack.
enum {
  SEND_ZERO_COPY = 47,
  SENDMSG_ZERO_COPY = 48,
  READ_MULTISHOT = 49,
  TRUNCATE = 55,
  READV_FIXED = 58,
  WRITEV_FIXED = 59,
  RECV_ZERO_COPY = 60
};

static int64_t message_length(uint64_t address) {
  const struct msghdr* message = (const struct msghdr*)(uintptr_t)address;
  return message == NULL ? 0 : capture_vector_length(message->msg_iov, (int64_t)message->msg_iovlen, false);
}

// True for requests without an offset, which use that field for something else.
static bool is_on_socket(const struct io_uring_sqe* sqe) {
  switch (sqe->opcode) {
    case IORING_OP_RECV:
    case RECV_ZERO_COPY:
    case IORING_OP_SEND:
    case SEND_ZERO_COPY:
    case IORING_OP_RECVMSG:
    case IORING_OP_SENDMSG:
    case SENDMSG_ZERO_COPY: return true;
    default: return false;
  }
}

void uring_describe(const struct uring* ring, const struct io_uring_sqe* sqe, struct uring_request* request) {
  request->kind = URING_NO_EVENT;
  request->offset = (int64_t)sqe->off;
  request->length = sqe->len;
  request->flags = PLAIT_EVENT_LOGICAL | PLAIT_EVENT_ASYNCHRONOUS;
  switch (sqe->opcode) {
    case IORING_OP_READ:
    case IORING_OP_READ_FIXED:
    case READ_MULTISHOT: request->kind = PLAIT_EVENT_READ; break;
    case IORING_OP_WRITE:
    case IORING_OP_WRITE_FIXED: request->kind = PLAIT_EVENT_WRITE; break;
    case IORING_OP_READV:
    case IORING_OP_WRITEV:
    case READV_FIXED:
    case WRITEV_FIXED:
      request->kind =
          sqe->opcode == IORING_OP_READV || sqe->opcode == READV_FIXED ? PLAIT_EVENT_READ : PLAIT_EVENT_WRITE;
      request->length = capture_vector_length((const struct iovec*)(uintptr_t)sqe->addr, sqe->len, false);
      break;
    case IORING_OP_RECV:
    case RECV_ZERO_COPY: request->kind = PLAIT_EVENT_READ; break;
    case IORING_OP_SEND:
    case SEND_ZERO_COPY: request->kind = PLAIT_EVENT_WRITE; break;
    case IORING_OP_RECVMSG:
    case IORING_OP_SENDMSG:
    case SENDMSG_ZERO_COPY:
      if (sqe->opcode != IORING_OP_RECVMSG) table_mark_shared();  // it may contain descriptors
      request->kind = sqe->opcode == IORING_OP_RECVMSG ? PLAIT_EVENT_READ : PLAIT_EVENT_WRITE;
      request->length = message_length(sqe->addr);
      break;
    case IORING_OP_FSYNC:
    case IORING_OP_SYNC_FILE_RANGE: request->kind = PLAIT_EVENT_SYNC; break;
    case IORING_OP_FALLOCATE:
      request->kind = PLAIT_EVENT_METADATA;
      request->length = (int64_t)sqe->addr;
      break;
    case TRUNCATE:
      request->kind = PLAIT_EVENT_TRUNCATE;
      request->length = 0;
      break;
    case IORING_OP_OPENAT:
    case IORING_OP_OPENAT2: request->kind = PLAIT_EVENT_OPEN; return;
    case IORING_OP_CLOSE: request->kind = PLAIT_EVENT_CLOSE; return;
    case IORING_OP_SPLICE:
    case IORING_OP_TEE: plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0); return;  // between two files
    default: return;
  }
  request->fd = sqe->fd;
  if (is_on_socket(sqe)) request->offset = -1;
  if (sqe->flags & IOSQE_FIXED_FILE) {
    if (ring->files != NULL && (uint32_t)sqe->fd < ring->files_count) request->file = ring->files[sqe->fd];
    return;
  }
  struct description* description = table_find(sqe->fd);
  if (description == NULL) return;
  const uint32_t about = atomic_load(&description->flags);
  request->file = atomic_load(&description->file);
  if (about & DESCRIPTION_DIRECT) request->flags |= PLAIT_EVENT_DIRECT;
  const bool at_position = sqe->off == UINT64_MAX && !is_on_socket(sqe);
  if (at_position) atomic_fetch_or(&description->flags, DESCRIPTION_SHARED);  // the kernel moves the position
  if (at_position || !(about & DESCRIPTION_SEEKABLE) ||
      (request->kind == PLAIT_EVENT_WRITE && ((about & DESCRIPTION_APPEND) || ((uint32_t)sqe->rw_flags & RWF_APPEND))))
    request->offset = -1;
  const bool durable = (about & DESCRIPTION_DURABLE) || ((uint32_t)sqe->rw_flags & (RWF_DSYNC | RWF_SYNC));
  if (request->kind == PLAIT_EVENT_WRITE && durable) request->flags |= PLAIT_EVENT_DURABLE;
}
