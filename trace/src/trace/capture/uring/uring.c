/*
 * io_uring: requests pass through no call that can be wrapped, so they are read from the rings themselves.
 *
 * At each call that enters the kernel for a ring, new entries of the submission ring are recorded as pending with the
 * time of the call, and new entries of the completion ring end them. Entries that were overwritten before that (a
 * ring that the kernel polls, calls that are not visible) are counted as missed: the rings' own counters show how
 * many.
 *
 * Counters of a ring only grow and wrap at 2^32, so differences are computed in 32 bits. Example: sq_entries = 4,
 * sq_seen = 10, head = tail = 17. Entries 10 to 12 were overwritten (17 - 4 - 10 = 3 entries), and the next one to read
 * is 13.
 */
#define _GNU_SOURCE
#include "trace/capture/uring/uring.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/capture/calls.h"

#ifndef IORING_SETUP_NO_MMAP
#define IORING_SETUP_NO_MMAP (1U << 14)
#endif
#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif

enum { NOTIFICATION = 1U << 3 };  // this is IORING_CQE_F_NOTIF: the memory of a sent message is free again

enum { RINGS = 1024 };
static struct uring rings[RINGS];
static _Atomic int rings_used;

// The ring that this thread has locked or is about to lock, and the stack frame of the function that locks it.
static __thread struct uring* locked_ring __attribute__((tls_model("initial-exec")));
static __thread uintptr_t lock_frame __attribute__((tls_model("initial-exec")));

enum { MAX_LOCK_TRIES = 1 << 20 };

static void count_unfinished_as_missed(struct uring* ring);
static void release_memory(struct uring* ring);

// Releases the lock before it clears locked_ring. A signal handler that interrupts in between sees locked_ring and
// gives up at once; in the reverse order it would wait for a lock that only the interrupted code can release.
static void unlock(struct uring* ring) {
  atomic_store_explicit(&ring->lock, 0, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
  locked_ring = NULL;
}

// True if this thread may lock a ring next. A signal handler must not wait for the code that it interrupted.
static bool may_lock(struct uring* ring, uintptr_t here) {
  // A signal handler jumped out of the frame that locked a ring, so the state of this ring may be incomplete.
  if (locked_ring != NULL && plait_frame_gone(lock_frame, here)) {
    if (atomic_load(&locked_ring->lock) == lock_frame) {
      count_unfinished_as_missed(locked_ring);
      release_memory(locked_ring);
      plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
      unlock(locked_ring);
    }
    locked_ring = NULL;
  }
  if (locked_ring != NULL) return false;
  // A handler that sees locked_ring must see its frame, so the frame is stored first. The fences only restrain the
  // compiler: handlers run in the same thread.
  lock_frame = here;
  atomic_signal_fence(memory_order_seq_cst);
  locked_ring = ring;
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}

// The lock contains the stack address of its holder.
static bool try_lock(struct uring* ring) {
  uintptr_t free = 0;
  return atomic_compare_exchange_strong_explicit(&ring->lock, &free, lock_frame, memory_order_acquire,
                                                 memory_order_relaxed);
}

// returns  true if the caller holds the lock; otherwise its update is counted as missed.
static bool lock(struct uring* ring) {
  if (may_lock(ring, PLAIT_FRAME())) {
    for (int tries = 0; tries < MAX_LOCK_TRIES; ++tries) {  // bounded: the holder may have left without unlocking
      if (try_lock(ring)) return true;
      RAW0(SYS_sched_yield);
    }
    locked_ring = NULL;
  }
  plait_events_missed(PLAIT_MISSED_COMPLETION, 1, 0, 0);
  return false;
}

static void* map(int fd, size_t size, int64_t offset) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
  const int protection = fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
  const long address = RAW6(SYS_mmap, NULL, size, protection, flags, fd, offset);
  if ((unsigned long)address > -4096UL) return NULL;
  if (fd >= 0) RAW3(SYS_madvise, address, size, MADV_DONTFORK);  // in a child, the mapping would keep the ring open
  return (void*)address;
}
static void unmap(void* address, size_t size) {
  if (address != NULL) RAW2(SYS_munmap, address, size);
}
// Removes the mapping from the ring before it is unmapped: a signal handler that interrupts this and does not return
// must not cause a second unmap.
#define RELEASE_MAPPING(MAPPING, SIZE)         \
  do {                                         \
    void* mapping = (MAPPING);                 \
    (MAPPING) = NULL;                          \
    atomic_signal_fence(memory_order_seq_cst); \
    unmap(mapping, (SIZE));                    \
  } while (0)

static void release_memory(struct uring* ring) {
  RELEASE_MAPPING(ring->requests, ring->request_capacity * sizeof *ring->requests);
  RELEASE_MAPPING(ring->sq_memory, ring->sq_size);
  RELEASE_MAPPING(ring->cq_memory, ring->cq_size);
  RELEASE_MAPPING(ring->sqe_memory, ring->sqe_size);
  RELEASE_MAPPING(ring->files, ring->files_count * sizeof *ring->files);
  ring->files_count = 0;
  ring->fd = -1;
}

struct uring* uring_find(int fd) {
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i)
    if (rings[i].fd == fd && rings[i].requests != NULL) return &rings[i];
  return NULL;
}

bool uring_is_known(int fd) { return uring_find(fd) != NULL; }

// Returns a ring that is not in use, locked; NULL: there is none, or this thread must not lock.
static struct uring* lock_free_ring(void) {
  for (int i = 0; i < RINGS; ++i) {
    int used = atomic_load(&rings_used);
    if (i < used && (rings[i].requests != NULL || atomic_load(&rings[i].lock) != 0)) continue;
    if (!may_lock(&rings[i], PLAIT_FRAME())) return NULL;
    if (!try_lock(&rings[i])) {
      locked_ring = NULL;
      continue;
    }
    if (rings[i].requests != NULL) {
      unlock(&rings[i]);
      continue;
    }
    while (used <= i && !atomic_compare_exchange_weak(&rings_used, &used, i + 1)) continue;
    return &rings[i];
  }
  return NULL;
}

void uring_add(int fd, const struct io_uring_params* parameters) {
  account_mark_asynchronous();
  struct uring* ring = lock_free_ring();
  if (ring == NULL ||
      (parameters->flags & IORING_SETUP_NO_MMAP)) {  // its memory is the program's, at an unknown address
    if (ring != NULL) unlock(ring);
    plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
    return;
  }
  ring->sqe_shift = parameters->flags & IORING_SETUP_SQE128 ? 7 : 6;
  ring->cqe_shift = parameters->flags & IORING_SETUP_CQE32 ? 5 : 4;
  ring->sq_entries = parameters->sq_entries;
  ring->cq_entries = parameters->cq_entries;
  ring->sq_size = parameters->sq_off.array + parameters->sq_entries * sizeof(uint32_t);
  ring->cq_size = parameters->cq_off.cqes + ((size_t)parameters->cq_entries << ring->cqe_shift);
  ring->sqe_size = (size_t)parameters->sq_entries << ring->sqe_shift;
  ring->sq_memory = map(fd, ring->sq_size, IORING_OFF_SQ_RING);
  ring->cq_memory = map(fd, ring->cq_size, IORING_OFF_CQ_RING);
  ring->sqe_memory = map(fd, ring->sqe_size, IORING_OFF_SQES);
  ring->request_capacity = 2 * (parameters->cq_entries + parameters->sq_entries);
  struct uring_request* requests = map(-1, ring->request_capacity * sizeof *ring->requests, 0);
  if (ring->sq_memory == NULL || ring->cq_memory == NULL || ring->sqe_memory == NULL || requests == NULL) {
    ring->requests = requests;
    release_memory(ring);
    unlock(ring);
    plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
    return;
  }
  char* sq = ring->sq_memory;
  char* cq = ring->cq_memory;
  ring->sq_head = (_Atomic uint32_t*)(void*)(sq + parameters->sq_off.head);
  ring->sq_tail = (_Atomic uint32_t*)(void*)(sq + parameters->sq_off.tail);
  ring->sq_array =
      parameters->flags & IORING_SETUP_NO_SQARRAY ? NULL : (uint32_t*)(void*)(sq + parameters->sq_off.array);
  ring->cq_tail = (_Atomic uint32_t*)(void*)(cq + parameters->cq_off.tail);
  ring->sqes = ring->sqe_memory;
  ring->cqes = cq + parameters->cq_off.cqes;
  ring->sq_seen = atomic_load(ring->sq_head);
  ring->cq_seen = atomic_load(ring->cq_tail);
  ring->first = ring->last = ring->first_free = ring->slots_used = 0;
  ring->fd = fd;
  ring->requests = requests;
  unlock(ring);
}

// Stores the file numbers of descriptors; a descriptor of -1 has none, and a smaller one leaves the entry unchanged.
static void store_file_numbers(uint32_t* numbers, const int* files, uint32_t count) {
  for (uint32_t i = 0; files != NULL && i < count; ++i) {
    if (files[i] < -1) continue;
    const struct description* description = files[i] < 0 ? NULL : table_find(files[i]);
    numbers[i] = description == NULL ? 0 : atomic_load(&description->file);
  }
}

void uring_register_files(struct uring* ring, uint32_t first, const int* files, uint32_t count, bool all) {
  // A new table is filled before the lock is taken, because the kernel is asked for the name of each file.
  const size_t bytes = count * sizeof *ring->files;
  uint32_t* numbers = all && count > 0 ? map(-1, bytes, 0) : NULL;
  if (numbers != NULL) store_file_numbers(numbers, files, count);
  if (!lock(ring)) {
    unmap(numbers, bytes);
    return;
  }
  if (all) {
    RELEASE_MAPPING(ring->files, ring->files_count * sizeof *ring->files);
    ring->files_count = numbers == NULL ? 0 : count;
    ring->files = numbers;
  } else if (first < ring->files_count) {
    const uint32_t rest = ring->files_count - first;
    store_file_numbers(ring->files + first, files, count < rest ? count : rest);
  }
  unlock(ring);
}

// Pending requests form a list in the order of their submission. Slots are numbered from 1; 0 ends the list.
static struct uring_request* request_at(struct uring* ring, uint32_t slot) { return &ring->requests[slot - 1]; }

static void remove_request(struct uring* ring, uint32_t slot) {
  struct uring_request* request = request_at(ring, slot);
  *(request->before == 0 ? &ring->first : &request_at(ring, request->before)->next) = request->next;
  *(request->next == 0 ? &ring->last : &request_at(ring, request->next)->before) = request->before;
  request->used = 0;
  request->next = ring->first_free;
  ring->first_free = slot;
}

// Returns a free slot. If there is none, frees the one of the oldest request.
static uint32_t allocate_slot(struct uring* ring) {
  if (ring->first_free == 0 && ring->slots_used < ring->request_capacity) return ++ring->slots_used;
  if (ring->first_free == 0) {  // more requests than both rings hold, so the completion of the oldest one was missed
    if (request_at(ring, ring->first)->kind != URING_NO_EVENT) plait_events_missed(PLAIT_MISSED_COMPLETION, 1, 0, 0);
    remove_request(ring, ring->first);
  }
  const uint32_t slot = ring->first_free;
  ring->first_free = request_at(ring, slot)->next;
  return slot;
}

static void add_request(struct uring* ring, const struct io_uring_sqe* sqe, int64_t start) {
  const uint32_t slot = allocate_slot(ring);
  struct uring_request* request = request_at(ring, slot);
  *request = (struct uring_request){.user_data = sqe->user_data,
                                    .start = start,
                                    .before = ring->last,
                                    .operation = sqe->opcode,
                                    .used = 1,
                                    .fd = sqe->fd};
  uring_describe(ring, sqe, request);
  *(ring->last == 0 ? &ring->first : &request_at(ring, ring->last)->next) = slot;
  ring->last = slot;
}

static void read_submissions(struct uring* ring, int64_t start) {
  // Reads only entries that the kernel has consumed, because the program may still change later ones.
  const uint32_t head = atomic_load_explicit(ring->sq_head, memory_order_acquire);
  const uint32_t tail = atomic_load_explicit(ring->sq_tail, memory_order_acquire);
  const uint32_t overwritten = tail - ring->sq_seen > ring->sq_entries ? tail - ring->sq_entries - ring->sq_seen : 0;
  if (overwritten > 0 && overwritten <= head - ring->sq_seen) {
    plait_events_missed(PLAIT_MISSED_COMPLETION, overwritten, 0, 0);
    ring->sq_seen += overwritten;
  }
  for (; ring->sq_seen != head; ++ring->sq_seen) {
    const uint32_t slot = ring->sq_seen & (ring->sq_entries - 1);
    const uint32_t number = ring->sq_array == NULL ? slot : ring->sq_array[slot];
    if (number < ring->sq_entries)
      add_request(ring, (const struct io_uring_sqe*)(const void*)(ring->sqes + ((size_t)number << ring->sqe_shift)),
                  start);
  }
}

// Records the event of a request that has completed.
static void put_completion(const struct uring_request* request, int64_t now, int32_t result) {
  uint32_t file = request->file;
  if (request->kind == PLAIT_EVENT_OPEN) {
    const struct description* description = result >= 0 ? table_open(result, NULL, 0) : NULL;
    file = description == NULL ? 0 : atomic_load(&description->file);
  } else if (request->kind == PLAIT_EVENT_CLOSE) {
    struct description* description = result == 0 ? table_remove(request->fd) : NULL;
    if (description != NULL) table_release(description, request->start, 0);
    return;
  }
  const struct plait_event event = {.start = request->start,
                                    .duration = now - request->start,
                                    .offset = request->kind == PLAIT_EVENT_OPEN ? -1 : request->offset,
                                    .length = request->kind == PLAIT_EVENT_OPEN ? 0 : request->length,
                                    .result = request->kind == PLAIT_EVENT_OPEN && result > 0 ? 0 : result,
                                    .file = file,
                                    .kind = request->kind,
                                    .interface = PLAIT_INTERFACE_URING,
                                    .flags = request->flags};
  plait_events_put(&event);
}

// Returns the slot of the oldest request with this user_data, because a program may use one value for several
// requests; 0: none.
static uint32_t find_oldest_request(struct uring* ring, uint64_t user_data) {
  uint32_t slot = ring->first;
  while (slot != 0 && request_at(ring, slot)->user_data != user_data) slot = request_at(ring, slot)->next;
  return slot;
}

static void read_completions(struct uring* ring, int64_t now) {
  const uint32_t tail = atomic_load_explicit(ring->cq_tail, memory_order_acquire);
  if (tail - ring->cq_seen > ring->cq_entries) ring->cq_seen = tail - ring->cq_entries;
  for (; ring->cq_seen != tail; ++ring->cq_seen) {
    const size_t slot = ring->cq_seen & (ring->cq_entries - 1);
    const struct io_uring_cqe* cqe = (const struct io_uring_cqe*)(const void*)(ring->cqes + (slot << ring->cqe_shift));
    const uint32_t number = find_oldest_request(ring, cqe->user_data);
    if (number == 0) continue;
    const struct uring_request* request = request_at(ring, number);
    if (request->kind != URING_NO_EVENT && !(cqe->flags & NOTIFICATION)) put_completion(request, now, cqe->res);
    if (!(cqe->flags & IORING_CQE_F_MORE)) remove_request(ring, number);  // a multishot request has further completions
  }
}

void uring_read_entries(struct uring* ring, int64_t start) {
  if (!lock(ring)) return;
  if (ring->requests != NULL) {
    read_submissions(ring, start);
    read_completions(ring, plait_events_now());
  }
  unlock(ring);
}

// Counts as missed the reads and writes whose completions will not be seen.
static void count_unfinished_as_missed(struct uring* ring) {
  int64_t count = 0;
  for (uint32_t i = 0; i < ring->request_capacity; ++i)
    if (ring->requests[i].used && ring->requests[i].kind <= PLAIT_EVENT_WRITE) ++count;
  if (count > 0) plait_events_missed(PLAIT_MISSED_COMPLETION, count, 0, 0);
}

void uring_remove(int fd) {
  struct uring* ring = uring_find(fd);
  if (ring == NULL) return;
  uring_read_entries(ring, plait_events_now());
  if (!lock(ring)) return;
  if (ring->requests != NULL) {
    count_unfinished_as_missed(ring);
    release_memory(ring);
  }
  unlock(ring);
}

void uring_remove_range(unsigned first, unsigned last) {
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i)
    if (rings[i].requests != NULL && (unsigned)rings[i].fd - first <= last - first) uring_remove(rings[i].fd);
}

void uring_end(void) { uring_remove_range(0, INT32_MAX); }

void uring_reset_in_child(void) {
  locked_ring = NULL;
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i) {
    atomic_store(&rings[i].lock, 0);
    // The child did not inherit these mappings (MADV_DONTFORK), and may have mapped something else there.
    rings[i].sq_memory = rings[i].cq_memory = rings[i].sqe_memory = NULL;
    if (rings[i].requests != NULL) release_memory(&rings[i]);
  }
}
