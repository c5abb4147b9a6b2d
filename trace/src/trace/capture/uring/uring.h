/* Rings of io_uring: requests and completions, read from the memory that the program shares with the kernel. */
#pragma once

#include <linux/io_uring.h>

#include "base/events/frame.h"
#include "trace/capture/capture.h"

/* A request that was submitted and has not ended. */
struct uring_request {
  uint64_t user_data;
  int64_t start, offset, length;
  uint32_t before, next;
  uint32_t file;
  uint16_t flags;
  uint8_t kind;
  uint8_t operation;
  uint8_t used;
  int fd; /* descriptor of a close */
};

struct uring {
  int fd;                 /* -1: the slot is free */
  _Atomic uintptr_t lock; /* 0: free */
  _Atomic uint32_t *sq_head, *sq_tail, *cq_tail;
  uint32_t* sq_array; /* NULL: entries are in order */
  const char* sqes;
  const char* cqes;
  uint32_t sq_entries, cq_entries;
  int sqe_shift, cqe_shift;
  uint32_t sq_seen, cq_seen;
  struct uring_request* asked;
  uint32_t asked_count;
  uint32_t first, last, spare,
      made;        /* slots in it: the oldest and the newest in use, one to use again, how many were */
  uint32_t* files; /* numbers of registered files */
  uint32_t files_count;
  void *sq_memory, *cq_memory, *sqe_memory;
  size_t sq_size, cq_size, sqe_size;
};

/* Returns the ring of a descriptor; NULL: unknown. */
struct uring* uring_find(int fd);
void uring_add(int fd, const struct io_uring_params* parameters);
/* Describes a request.  kind 255: the request becomes no event. */
void uring_describe(const struct uring* ring, const struct io_uring_sqe* sqe, struct uring_request* asked);
/* Reads the requests that were submitted since the last time, from `start` on, and the completions. */
void uring_look(struct uring* ring, int64_t start);
/* Removes a ring whose descriptor is being closed. */
void uring_remove(int fd);
void uring_register_files(struct uring* ring, uint32_t first, const int* files, uint32_t count, bool all);
/* Redirects the calls to enter a ring in the code around `address` to our function. */
void uring_patch(uintptr_t address);
void uring_end(void);
void uring_forked(void);
