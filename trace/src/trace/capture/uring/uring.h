/* Records io_uring requests, which the program passes to the kernel in shared memory: the submission ring (sq, with its
 * entries sqe) and the completion ring (cq, entries cqe). */
#pragma once

#include <linux/io_uring.h>

#include "base/events/frame.h"
#include "trace/capture/capture.h"

enum { URING_NO_EVENT = 255 }; /* kind of a request that becomes no event */

/* A request that was submitted and has not ended. */
struct uring_request {
  uint64_t user_data;
  int64_t start, offset, length;
  uint32_t before, next; /* slots of the neighbours in the list; 0: none */
  uint32_t file;
  uint16_t flags;
  uint8_t kind;
  uint8_t operation;
  uint8_t used; /* 1: pending */
  int fd;       /* descriptor that a close request closes */
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
  uint32_t sq_seen, cq_seen;      /* counters of the entries that were read */
  struct uring_request* requests; /* pending requests by slot; NULL: this struct describes no ring */
  uint32_t request_capacity;
  uint32_t first, last; /* slots of the oldest and of the newest pending request */
  uint32_t first_free;  /* first slot of the list of free ones */
  uint32_t slots_used;  /* number of slots that were ever used */
  uint32_t* files;      /* numbers of registered files */
  uint32_t files_count;
  void *sq_memory, *cq_memory, *sqe_memory;
  size_t sq_size, cq_size, sqe_size;
};

/* Returns the ring of a descriptor; NULL: unknown. */
struct uring* uring_find(int fd);
/* Maps a new ring, whose requests are recorded from now on. */
void uring_add(int fd, const struct io_uring_params* parameters);
/* Sets the file, offset, length, flags and kind of a request from its submission entry. */
void uring_describe(const struct uring* ring, const struct io_uring_sqe* sqe, struct uring_request* request);
/* Reads the new entries of both rings: stores the requests that were submitted, with the start time `start`, and
 * records an event for each that has completed. */
void uring_read_entries(struct uring* ring, int64_t start);
/* Removes a ring whose descriptor is being closed. */
void uring_remove(int fd);
/* Stores the files that a program registers with a ring, from number `first` on; all: they replace all earlier ones. */
void uring_register_files(struct uring* ring, uint32_t first, const int* files, uint32_t count, bool all);
/* Redirects the system calls that enter a ring, in the program's code around `address`, to our function. */
void uring_patch(uintptr_t address);
void uring_end(void);
void uring_reset_in_child(void);
