/*
 * io_uring: requests pass through no call that can be wrapped, so they are read from the rings themselves.
 *
 * At each call that enters the kernel for a ring, new entries of the submission ring are recorded as pending with the
 * time of the call, and new entries of the completion ring end them. Entries that were overwritten before that (a
 * ring that the kernel polls, calls that are not visible) are counted as missed: the rings' own counters tell how
 * many.
 *
 * Counters of a ring only grow and wrap at 2^32, so differences are computed in 32 bits. Example: sq_entries = 4,
 * sq_seen = 10, head = tail = 17. Entries 10 to 12 were overwritten: gone = 17 - 4 - 10 = 3, and the next entry to
 * read is 13.
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

// The ring that this thread has locked, and the stack frame that holds the lock.
static __thread struct uring* held __attribute__((tls_model("initial-exec")));
static __thread uintptr_t held_at __attribute__((tls_model("initial-exec")));

enum { LONGEST_WAIT = 1 << 20 };

static void give_up(struct uring* ring);
static void forget(struct uring* ring);

static void unlock(struct uring* ring) {
  atomic_store_explicit(&ring->lock, 0, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst);
  held = NULL;
}

// True if this thread may lock a ring next. A signal handler must not wait for the code that it interrupted.
static bool may_lock(struct uring* ring, uintptr_t here) {
  // A handler jumped out, and the state of its ring is incomplete.
  if (held != NULL && plait_frame_gone(held_at, here)) {
    if (atomic_load(&held->lock) == held_at) {
      give_up(held);
      forget(held);
      plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
      unlock(held);
    }
    held = NULL;
  }
  if (held != NULL) return false;
  held_at = here;
  atomic_signal_fence(memory_order_seq_cst);
  held = ring;
  atomic_signal_fence(memory_order_seq_cst);
  return true;
}

// The lock contains the stack address of its holder.
static bool try_lock(struct uring* ring) {
  uintptr_t free = 0;
  return atomic_compare_exchange_strong_explicit(&ring->lock, &free, held_at, memory_order_acquire,
                                                 memory_order_relaxed);
}

// returns  true if the caller holds the lock; otherwise its update is counted as missed.
static bool lock(struct uring* ring) {
  if (may_lock(ring, PLAIT_FRAME())) {
    for (int tries = 0; tries < LONGEST_WAIT; ++tries) {  // bounded: its thread may have left without unlocking
      if (try_lock(ring)) return true;
      RAW0(SYS_sched_yield);
    }
    held = NULL;
  }
  plait_events_missed(PLAIT_MISSED_COMPLETION, 1, 0, 0);
  return false;
}

static void* map(int fd, size_t size, int64_t offset) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
  const int protection = fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
  const long address = RAW6(SYS_mmap, NULL, size, protection, flags, fd, offset);
  if ((unsigned long)address > -4096UL) return NULL;
  if (fd >= 0) RAW3(SYS_madvise, address, size, MADV_DONTFORK);  // a child would keep the ring from being closed
  return (void*)address;
}
static void unmap(void* address, size_t size) {
  if (address != NULL) RAW2(SYS_munmap, address, size);
}
// Removes the mapping from the ring before it is unmapped: a signal handler that interrupts this and does not return
// must not cause a second unmap.
#define LET_GO(MAPPING, SIZE)                  \
  do {                                         \
    void* let_go = (MAPPING);                  \
    (MAPPING) = NULL;                          \
    atomic_signal_fence(memory_order_seq_cst); \
    unmap(let_go, (SIZE));                     \
  } while (0)

static void forget(struct uring* ring) {
  LET_GO(ring->asked, ring->asked_count * sizeof *ring->asked);
  LET_GO(ring->sq_memory, ring->sq_size);
  LET_GO(ring->cq_memory, ring->cq_size);
  LET_GO(ring->sqe_memory, ring->sqe_size);
  LET_GO(ring->files, ring->files_count * sizeof *ring->files);
  ring->files_count = 0;
  ring->fd = -1;
}

struct uring* uring_find(int fd) {
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i)
    if (rings[i].fd == fd && rings[i].asked != NULL) return &rings[i];
  return NULL;
}

bool uring_known(int fd) { return uring_find(fd) != NULL; }

static struct uring* free_slot(void) {
  for (int i = 0; i < RINGS; ++i) {
    int used = atomic_load(&rings_used);
    if (i < used && (rings[i].asked != NULL || atomic_load(&rings[i].lock) != 0)) continue;
    if (!may_lock(&rings[i], PLAIT_FRAME())) return NULL;
    if (!try_lock(&rings[i])) {
      held = NULL;
      continue;
    }
    if (rings[i].asked != NULL) {
      unlock(&rings[i]);
      continue;
    }
    while (used <= i && !atomic_compare_exchange_weak(&rings_used, &used, i + 1)) continue;
    return &rings[i];
  }
  return NULL;
}

void uring_add(int fd, const struct io_uring_params* p) {
  account_asynchronous();
  struct uring* ring = free_slot();
  if (ring == NULL || (p->flags & IORING_SETUP_NO_MMAP)) {  // its memory is the program's, at an unknown address
    if (ring != NULL) unlock(ring);
    plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
    return;
  }
  ring->sqe_shift = p->flags & IORING_SETUP_SQE128 ? 7 : 6;
  ring->cqe_shift = p->flags & IORING_SETUP_CQE32 ? 5 : 4;
  ring->sq_entries = p->sq_entries;
  ring->cq_entries = p->cq_entries;
  ring->sq_size = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
  ring->cq_size = p->cq_off.cqes + ((size_t)p->cq_entries << ring->cqe_shift);
  ring->sqe_size = (size_t)p->sq_entries << ring->sqe_shift;
  ring->sq_memory = map(fd, ring->sq_size, IORING_OFF_SQ_RING);
  ring->cq_memory = map(fd, ring->cq_size, IORING_OFF_CQ_RING);
  ring->sqe_memory = map(fd, ring->sqe_size, IORING_OFF_SQES);
  ring->asked_count = 2 * (p->cq_entries + p->sq_entries);
  struct uring_request* asked = map(-1, ring->asked_count * sizeof *ring->asked, 0);
  if (ring->sq_memory == NULL || ring->cq_memory == NULL || ring->sqe_memory == NULL || asked == NULL) {
    ring->asked = asked;
    forget(ring);
    unlock(ring);
    plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
    return;
  }
  char* sq = ring->sq_memory;
  char* cq = ring->cq_memory;
  ring->sq_head = (_Atomic uint32_t*)(void*)(sq + p->sq_off.head);
  ring->sq_tail = (_Atomic uint32_t*)(void*)(sq + p->sq_off.tail);
  ring->sq_array = p->flags & IORING_SETUP_NO_SQARRAY ? NULL : (uint32_t*)(void*)(sq + p->sq_off.array);
  ring->cq_tail = (_Atomic uint32_t*)(void*)(cq + p->cq_off.tail);
  ring->sqes = ring->sqe_memory;
  ring->cqes = cq + p->cq_off.cqes;
  ring->sq_seen = atomic_load(ring->sq_head);
  ring->cq_seen = atomic_load(ring->cq_tail);
  ring->first = ring->last = ring->spare = ring->made = 0;
  ring->fd = fd;
  ring->asked = asked;
  unlock(ring);
}

void uring_register_files(struct uring* ring, uint32_t first, const int* files, uint32_t count, bool all) {
  if (all) {
    uint32_t* numbers = map(-1, (count > 0 ? count : 1) * sizeof *numbers, 0);
    if (numbers == NULL) return;
    if (!lock(ring)) {
      unmap(numbers, (count > 0 ? count : 1) * sizeof *numbers);
      return;
    }
    unmap(ring->files, ring->files_count * sizeof *ring->files);
    ring->files = numbers;
    ring->files_count = count;
    unlock(ring);
  }
  for (uint32_t i = 0; files != NULL && i < count && first + i < ring->files_count; ++i) {
    if (files[i] < -1) continue;  // unchanged
    const struct description* description = files[i] < 0 ? NULL : table_find(files[i]);
    ring->files[first + i] = description == NULL ? 0 : atomic_load(&description->file);
  }
}

// Pending requests form a list in their order. Slots are numbered from 1.
static struct uring_request* at_slot(struct uring* ring, uint32_t slot) { return &ring->asked[slot - 1]; }

static void take_out(struct uring* ring, uint32_t slot) {
  struct uring_request* asked = at_slot(ring, slot);
  *(asked->before == 0 ? &ring->first : &at_slot(ring, asked->before)->next) = asked->next;
  *(asked->next == 0 ? &ring->last : &at_slot(ring, asked->next)->before) = asked->before;
  asked->used = 0;
  asked->next = ring->spare;
  ring->spare = slot;
}

static uint32_t spare_slot(struct uring* ring) {
  if (ring->spare == 0 && ring->made < ring->asked_count) return ++ring->made;
  if (ring->spare == 0) {  // more than the rings hold: the end of the oldest was not seen
    if (at_slot(ring, ring->first)->kind != 255) plait_events_missed(PLAIT_MISSED_COMPLETION, 1, 0, 0);
    take_out(ring, ring->first);
  }
  const uint32_t slot = ring->spare;
  ring->spare = at_slot(ring, slot)->next;
  return slot;
}

static void remember(struct uring* ring, const struct io_uring_sqe* sqe, int64_t start) {
  const uint32_t slot = spare_slot(ring);
  struct uring_request* asked = at_slot(ring, slot);
  *asked = (struct uring_request){.user_data = sqe->user_data,
                                  .start = start,
                                  .before = ring->last,
                                  .operation = sqe->opcode,
                                  .used = 1,
                                  .fd = sqe->fd};
  uring_describe(ring, sqe, asked);
  *(ring->last == 0 ? &ring->first : &at_slot(ring, ring->last)->next) = slot;
  ring->last = slot;
}

static void look_at_submitted(struct uring* ring, int64_t start) {
  // Reads the entries up to the kernel's head: the program may still change later ones.
  const uint32_t head = atomic_load_explicit(ring->sq_head, memory_order_acquire);
  const uint32_t tail = atomic_load_explicit(ring->sq_tail, memory_order_acquire);
  const uint32_t gone = tail - ring->sq_seen > ring->sq_entries ? tail - ring->sq_entries - ring->sq_seen : 0;
  if (gone > 0 && gone <= head - ring->sq_seen) {
    plait_events_missed(PLAIT_MISSED_COMPLETION, gone, 0, 0);
    ring->sq_seen += gone;
  }
  for (; ring->sq_seen != head; ++ring->sq_seen) {
    const uint32_t slot = ring->sq_seen & (ring->sq_entries - 1);
    const uint32_t number = ring->sq_array == NULL ? slot : ring->sq_array[slot];
    if (number < ring->sq_entries)
      remember(ring, (const struct io_uring_sqe*)(const void*)(ring->sqes + ((size_t)number << ring->sqe_shift)),
               start);
  }
}

static void put_end(const struct uring_request* asked, int64_t now, int32_t result) {
  uint32_t file = asked->file;
  if (asked->kind == PLAIT_EVENT_OPEN) {
    const struct description* description = result >= 0 ? table_open(result, NULL, 0) : NULL;
    file = description == NULL ? 0 : atomic_load(&description->file);
  } else if (asked->kind == PLAIT_EVENT_CLOSE) {
    struct description* description = result == 0 ? table_take(asked->fd) : NULL;
    if (description != NULL) table_release(description, asked->start, 0);
    return;
  }
  const struct plait_event event = {.start = asked->start,
                                    .duration = now - asked->start,
                                    .offset = asked->kind == PLAIT_EVENT_OPEN ? -1 : asked->offset,
                                    .length = asked->kind == PLAIT_EVENT_OPEN ? 0 : asked->length,
                                    .result = asked->kind == PLAIT_EVENT_OPEN && result > 0 ? 0 : result,
                                    .file = file,
                                    .kind = asked->kind,
                                    .interface = PLAIT_INTERFACE_URING,
                                    .flags = asked->flags};
  plait_events_put(&event);
}

// Returns the oldest request with that user_data, because programs may use one value for several; 0: none.
static uint32_t oldest(struct uring* ring, uint64_t user_data) {
  uint32_t slot = ring->first;
  while (slot != 0 && at_slot(ring, slot)->user_data != user_data) slot = at_slot(ring, slot)->next;
  return slot;
}

static void look_at_ended(struct uring* ring, int64_t now) {
  const uint32_t tail = atomic_load_explicit(ring->cq_tail, memory_order_acquire);
  if (tail - ring->cq_seen > ring->cq_entries) ring->cq_seen = tail - ring->cq_entries;
  for (; ring->cq_seen != tail; ++ring->cq_seen) {
    const size_t slot = ring->cq_seen & (ring->cq_entries - 1);
    const struct io_uring_cqe* cqe = (const struct io_uring_cqe*)(const void*)(ring->cqes + (slot << ring->cqe_shift));
    const uint32_t asked = oldest(ring, cqe->user_data);
    if (asked == 0) continue;
    if (at_slot(ring, asked)->kind != 255 && !(cqe->flags & NOTIFICATION)) put_end(at_slot(ring, asked), now, cqe->res);
    if (!(cqe->flags & IORING_CQE_F_MORE)) take_out(ring, asked);
  }
}

void uring_look(struct uring* ring, int64_t start) {
  if (!lock(ring)) return;
  if (ring->asked != NULL) {
    look_at_submitted(ring, start);
    look_at_ended(ring, plait_events_now());
  }
  unlock(ring);
}

static void give_up(struct uring* ring) {
  int64_t count = 0;
  for (uint32_t i = 0; i < ring->asked_count; ++i)
    if (ring->asked[i].used && ring->asked[i].kind <= PLAIT_EVENT_WRITE) ++count;
  if (count > 0) plait_events_missed(PLAIT_MISSED_COMPLETION, count, 0, 0);
}

void uring_remove(int fd) {
  struct uring* ring = uring_find(fd);
  if (ring == NULL) return;
  uring_look(ring, plait_events_now());
  if (!lock(ring)) return;
  if (ring->asked != NULL) {
    give_up(ring);
    forget(ring);
  }
  unlock(ring);
}

void uring_remove_range(unsigned first, unsigned last) {
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i)
    if (rings[i].asked != NULL && (unsigned)rings[i].fd - first <= last - first) uring_remove(rings[i].fd);
}

void uring_end(void) { uring_remove_range(0, INT32_MAX); }

void uring_forked(void) {
  held = NULL;
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i) {
    atomic_store(&rings[i].lock, 0);
    // Not unmapped in the child, where something else may be mapped at these addresses by now.
    rings[i].sq_memory = rings[i].cq_memory = rings[i].sqe_memory = NULL;
    if (rings[i].asked != NULL) forget(&rings[i]);
  }
}
