/*
 * io_uring: requests never pass through a call that could be wrapped, so they are read from the rings themselves.
 *
 * At each call that enters the kernel for a ring, new entries of the submission ring are remembered with the time of
 * the call, and new entries of the completion ring end them.  Entries that were overwritten before that (a ring that
 * the kernel polls, calls that could not be seen) are counted as missed: the rings' own counters tell how many.
 */
#define _GNU_SOURCE
#include "trace/capture/uring.h"

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

enum { RINGS = 1024 };
static struct uring rings[RINGS];
static _Atomic int rings_used;

static void lock(struct uring* ring) {
  while (atomic_exchange_explicit(&ring->lock, 1, memory_order_acquire) != 0) RAW0(SYS_sched_yield);
}
static void unlock(struct uring* ring) { atomic_store_explicit(&ring->lock, 0, memory_order_release); }

static void* map(int fd, size_t size, int64_t offset) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
  const int protection = fd < 0 ? PROT_READ | PROT_WRITE : PROT_READ;
  const long place = RAW6(SYS_mmap, NULL, size, protection, flags, fd, offset);
  return (unsigned long)place > -4096UL ? NULL : (void*)place;
}
static void unmap(void* place, size_t size) {
  if (place != NULL) RAW2(SYS_munmap, place, size);
}

static void forget(struct uring* ring) {
  unmap(ring->sq_memory, ring->sq_size);
  unmap(ring->cq_memory, ring->cq_size);
  unmap(ring->sqe_memory, ring->sqe_size);
  unmap(ring->asked, ring->asked_count * sizeof *ring->asked);
  unmap(ring->files, ring->files_count * sizeof *ring->files);
  ring->sq_memory = ring->cq_memory = ring->sqe_memory = NULL;
  ring->asked = NULL;
  ring->files = NULL;
  ring->files_count = 0;
  ring->fd = -1;
}

struct uring* uring_find(int fd) {
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i)
    if (rings[i].fd == fd && rings[i].asked != NULL) return &rings[i];
  return NULL;
}

static struct uring* free_place(void) {
  for (int i = 0; i < RINGS; ++i) {
    int used = atomic_load(&rings_used);
    if (i < used && (rings[i].asked != NULL || atomic_load(&rings[i].lock) != 0)) continue;
    if (atomic_exchange(&rings[i].lock, 1) != 0) continue;
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
  struct uring* ring = free_place();
  if (ring == NULL || (p->flags & IORING_SETUP_NO_MMAP)) {  // its memory is the program's: not known where
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
  struct uring_asked* asked = map(-1, ring->asked_count * sizeof *ring->asked, 0);
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
  ring->order = 0;
  ring->fd = fd;
  ring->asked = asked;
  unlock(ring);
}

void uring_register_files(struct uring* ring, uint32_t first, const int* files, uint32_t count, bool all) {
  if (all) {
    uint32_t* numbers = map(-1, (count > 0 ? count : 1) * sizeof *numbers, 0);
    if (numbers == NULL) return;
    lock(ring);
    unmap(ring->files, ring->files_count * sizeof *ring->files);
    ring->files = numbers;
    ring->files_count = count;
    unlock(ring);
  }
  for (uint32_t i = 0; files != NULL && i < count && first + i < ring->files_count; ++i) {
    if (files[i] < -1) continue;  // left as it is
    const struct description* description = files[i] < 0 ? NULL : table_find(files[i]);
    ring->files[first + i] = description == NULL ? 0 : atomic_load(&description->file);
  }
}

// What a request asks for.  kind 255: nothing of files.
static void describe(const struct uring* ring, const struct io_uring_sqe* sqe, struct uring_asked* asked) {
  asked->kind = 255;
  asked->offset = (int64_t)sqe->off;
  asked->length = sqe->len;
  asked->flags = PLAIT_EVENT_LOGICAL | PLAIT_EVENT_ASYNCHRONOUS;
  switch (sqe->opcode) {
    case IORING_OP_READ:
    case IORING_OP_READ_FIXED: asked->kind = PLAIT_EVENT_READ; break;
    case IORING_OP_WRITE:
    case IORING_OP_WRITE_FIXED: asked->kind = PLAIT_EVENT_WRITE; break;
    case IORING_OP_READV:
    case IORING_OP_WRITEV:
      asked->kind = sqe->opcode == IORING_OP_READV ? PLAIT_EVENT_READ : PLAIT_EVENT_WRITE;
      asked->length = capture_vector_length((const struct iovec*)(uintptr_t)sqe->addr, sqe->len, false);
      break;
    case IORING_OP_FSYNC:
    case IORING_OP_SYNC_FILE_RANGE: asked->kind = PLAIT_EVENT_SYNC; break;
    case IORING_OP_OPENAT:
    case IORING_OP_OPENAT2: asked->kind = PLAIT_EVENT_OPEN; return;
    case IORING_OP_CLOSE: asked->kind = PLAIT_EVENT_CLOSE; return;
    default: return;
  }
  asked->fd = sqe->fd;
  if (sqe->flags & IOSQE_FIXED_FILE) {
    if (ring->files != NULL && (uint32_t)sqe->fd < ring->files_count) asked->file = ring->files[sqe->fd];
    return;
  }
  struct description* description = table_find(sqe->fd);
  if (description == NULL) return;
  const uint32_t about = atomic_load(&description->flags);
  asked->file = atomic_load(&description->file);
  if (about & DESCRIPTION_DIRECT) asked->flags |= PLAIT_EVENT_DIRECT;
  const bool at_position = sqe->off == UINT64_MAX;
  if (at_position) atomic_fetch_or(&description->flags, DESCRIPTION_SHARED);  // the kernel moves it unseen
  if (at_position || !(about & DESCRIPTION_SEEKABLE) ||
      (asked->kind == PLAIT_EVENT_WRITE && ((about & DESCRIPTION_APPEND) || ((uint32_t)sqe->rw_flags & RWF_APPEND))))
    asked->offset = -1;
}

static void remember(struct uring* ring, const struct io_uring_sqe* sqe, int64_t start) {
  for (uint32_t i = 0; i < ring->asked_count; ++i) {
    struct uring_asked* asked = &ring->asked[(ring->order + i) % ring->asked_count];
    if (asked->used) continue;
    *asked = (struct uring_asked){.user_data = sqe->user_data,
                                  .start = start,
                                  .order = ring->order++,
                                  .operation = sqe->opcode,
                                  .used = 1,
                                  .fd = sqe->fd};
    describe(ring, sqe, asked);
    return;
  }
  plait_events_missed(PLAIT_MISSED_COMPLETION, 1, 0, 0);
}

static void look_at_submitted(struct uring* ring, int64_t start) {
  // What the kernel has taken: entries behind its head may still be changed by the program.
  const uint32_t head = atomic_load_explicit(ring->sq_head, memory_order_acquire);
  const uint32_t tail = atomic_load_explicit(ring->sq_tail, memory_order_acquire);
  const uint32_t gone = tail - ring->sq_seen > ring->sq_entries ? tail - ring->sq_entries - ring->sq_seen : 0;
  if (gone > 0 && gone <= head - ring->sq_seen) {
    plait_events_missed(PLAIT_MISSED_COMPLETION, gone, 0, 0);
    ring->sq_seen += gone;
  }
  for (; ring->sq_seen != head; ++ring->sq_seen) {
    const uint32_t place = ring->sq_seen & (ring->sq_entries - 1);
    const uint32_t number = ring->sq_array == NULL ? place : ring->sq_array[place];
    if (number < ring->sq_entries)
      remember(ring, (const struct io_uring_sqe*)(const void*)(ring->sqes + ((size_t)number << ring->sqe_shift)),
               start);
  }
}

static void put_end(const struct uring_asked* asked, int64_t now, int32_t result) {
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

// The oldest request of that name: programs may use a name for several.
static struct uring_asked* oldest(struct uring* ring, uint64_t user_data) {
  struct uring_asked* found = NULL;
  for (uint32_t i = 0; i < ring->asked_count; ++i) {
    struct uring_asked* asked = &ring->asked[i];
    if (asked->used && asked->user_data == user_data && (found == NULL || asked->order < found->order)) found = asked;
  }
  return found;
}

static void look_at_ended(struct uring* ring, int64_t now) {
  const uint32_t tail = atomic_load_explicit(ring->cq_tail, memory_order_acquire);
  if (tail - ring->cq_seen > ring->cq_entries) ring->cq_seen = tail - ring->cq_entries;
  for (; ring->cq_seen != tail; ++ring->cq_seen) {
    const size_t place = ring->cq_seen & (ring->cq_entries - 1);
    const struct io_uring_cqe* cqe = (const struct io_uring_cqe*)(const void*)(ring->cqes + (place << ring->cqe_shift));
    struct uring_asked* asked = oldest(ring, cqe->user_data);
    if (asked == NULL) continue;
    if (asked->kind != 255) put_end(asked, now, cqe->res);
    if (!(cqe->flags & IORING_CQE_F_MORE)) asked->used = 0;
  }
}

void uring_look(struct uring* ring, int64_t start) {
  lock(ring);
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
  lock(ring);
  if (ring->asked != NULL) {
    give_up(ring);
    forget(ring);
  }
  unlock(ring);
}

void uring_end(void) {
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i)
    if (rings[i].asked != NULL) uring_remove(rings[i].fd);
}

void uring_forked(void) {
  for (int i = 0, count = atomic_load(&rings_used); i < count; ++i) {
    atomic_store(&rings[i].lock, 0);
    if (rings[i].asked != NULL) forget(&rings[i]);
  }
}
