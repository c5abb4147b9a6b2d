/* Mappings of files. Loads and stores are not visible, so their bytes are counted as mapped. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

// Mapped files, which distinguish the unmapping of a file from the release of memory. Mappings beyond MOST are not
// recorded.
enum { CAPACITY = 4096 };
static _Atomic uintptr_t begins[CAPACITY];  // 0: free, 1: being written; in an array of its own for fast searches
struct mapped_range {
  uintptr_t size;
  int64_t offset;
  uint32_t file;
};
static struct mapped_range mapped[CAPACITY];
static _Atomic int used;  // number of slots that were ever used
static _Atomic int live;
static _Atomic int hint;  // possible position of a free slot

static void remember(uintptr_t begin, size_t size, int64_t offset, uint32_t file) {
  if (atomic_load(&live) >= CAPACITY) return;
  const int first = atomic_load(&hint);
  for (int tried = 0; tried < CAPACITY; ++tried) {
    const int i = (first + tried) % CAPACITY;
    uintptr_t free_slot = atomic_load_explicit(&begins[i], memory_order_relaxed);
    if (free_slot != 0 || !atomic_compare_exchange_strong(&begins[i], &free_slot, 1)) continue;
    mapped[i].size = size;
    mapped[i].offset = offset;
    mapped[i].file = file;
    atomic_store(&begins[i], begin);
    atomic_store(&hint, (i + 1) % CAPACITY);
    atomic_fetch_add(&live, 1);
    int seen_used = atomic_load(&used);
    while (seen_used <= i && !atomic_compare_exchange_weak(&used, &seen_used, i + 1)) continue;
    return;
  }
}

static void put_unmap(uintptr_t begin, size_t size, int64_t start, uintptr_t caller) {
  for (int i = 0, count = atomic_load(&used); i < count && atomic_load(&live) > 0; ++i) {
    uintptr_t address = atomic_load_explicit(&begins[i], memory_order_acquire);
    if (address <= 1 || address - begin >= size) continue;
    const struct mapped_range range = {.size = mapped[i].size, .offset = mapped[i].offset, .file = mapped[i].file};
    if (!atomic_compare_exchange_strong(&begins[i], &address, 0)) continue;
    atomic_store(&hint, i);
    atomic_fetch_sub(&live, 1);
    put_event((struct plait_event){.kind = PLAIT_EVENT_UNMAP,
                                   .interface = capture_interface(caller, PLAIT_INTERFACE_MMAP),
                                   .file = range.file,
                                   .start = start,
                                   .offset = range.offset,
                                   .length = (int64_t)range.size});
    if (address == begin && range.size >= size) return;  // the only mapping in this range
  }
}

struct map_call {
  struct next_call* next;
  void* address;
  size_t size;
  int protection, flags, fd;
  int64_t offset;
};

static long ask_to_map(const struct map_call* q) {
  if (q->next != CHAIN_END)
    return chain_call(q->next, 0,
                      ARGUMENTS((long)q->address, (long)q->size, q->protection, q->flags, q->fd, q->offset));
  return RAW6(SYS_mmap, q->address, q->size, q->protection, q->flags, q->fd, q->offset);
}

static long map(const struct map_call* q, uintptr_t caller) {
  if ((q->flags & MAP_ANONYMOUS) || q->fd < 0 || chain_inside() || !capture_wanted(caller) ||
      capture_in_borrowed_memory())
    return ask_to_map(q);
  const size_t size = q->size;
  const int protection = q->protection;
  const int64_t offset = q->offset;
  const struct description* description = table_find(q->fd);
  const int64_t start = capture_now();
  const long result = ask_to_map(q);
  const bool failed = (unsigned long)result > -4096UL;
  const uint32_t file = description == NULL ? 0 : atomic_load(&description->file);
  const bool stored = (protection & PROT_WRITE) && (q->flags & MAP_TYPE) != MAP_PRIVATE;
  put_event((struct plait_event){.kind = PLAIT_EVENT_MAP,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_MMAP),
                                 .file = file,
                                 .start = start,
                                 .offset = offset,
                                 .length = (int64_t)size,
                                 .result = failed ? result : 0,
                                 .flags = stored ? 0 : PLAIT_EVENT_READ_ONLY});
  if (!failed) {
    remember((uintptr_t)result, size, offset, file);
    // The C library's own tables are not data of the program, and shared memory and devices are not files.
    const uint32_t about = description == NULL ? 0 : atomic_load(&description->flags);
    if (!text_has(&capture_libc_text, caller) && (about & DESCRIPTION_SEEKABLE) && !(about & DESCRIPTION_MEMORY))
      plait_events_missed(PLAIT_MISSED_MAPPED, 1, protection & PROT_READ ? (int64_t)size : 0,
                          stored ? (int64_t)size : 0);
  }
  return result;
}

long capture_mmap(void* address, size_t size, int protection, int flags, int fd, int64_t offset, uintptr_t caller) {
  return map(&(struct map_call){CHAIN_END, address, size, protection, flags, fd, offset}, caller);
}

#define MAP() \
  return (void*)answer(next, map(&(struct map_call){next, address, size, protection, flags, fd, offset}, CALLER()));
BOTH(void*, mmap64, (void* address, size_t size, int protection, int flags, int fd, off64_t offset), MAP())
CHAINED(void*, mmap, (void* address, size_t size, int protection, int flags, int fd, off_t offset), MAP())

long capture_munmap(void* address, size_t size, struct next_call* next, uintptr_t caller) {
  // Recorded before the call: as soon as the range is unmapped, another thread may map something there.
  if (atomic_load(&live) > 0 && !chain_inside() && capture_wanted(caller) && !capture_in_borrowed_memory())
    put_unmap((uintptr_t)address, size, plait_events_now(), caller);
  return next != CHAIN_END ? chain_call(next, 0, ARGUMENTS((long)address, (long)size))
                           : RAW2(SYS_munmap, address, size);
}
BOTH(int, munmap, (void* address, size_t size),
     return (int)answer(next, capture_munmap(address, size, next, CALLER()));)

struct sync_call {
  struct next_call* next;
  void* address;
  size_t size;
  int flags;
  bool cancelled;
};

static long ask_to_sync(const struct sync_call* q) {
  if (q->next != CHAIN_END) return chain_call(q->next, 0, ARGUMENTS((long)q->address, (long)q->size, q->flags));
  int type;
  const bool may = q->cancelled && cancel_begin(&type);
  const long result = RAW3(SYS_msync, q->address, q->size, q->flags);
  if (may) cancel_end(type);
  return result;
}

static long sync_and_record(const struct sync_call* q, uintptr_t caller) {
  const void* address = q->address;
  const size_t size = q->size;
  const int64_t start = capture_now();
  const long result = ask_to_sync(q);
  if (!capture_wanted(caller) || (q->next != CHAIN_END && chain_inside())) return result;
  uint32_t file = 0;
  int64_t offset = -1;
  for (int i = 0, count = atomic_load(&used); i < count; ++i) {
    const uintptr_t begin = atomic_load(&begins[i]);
    if (begin <= 1 || (uintptr_t)address - begin >= mapped[i].size) continue;
    file = mapped[i].file;
    offset = mapped[i].offset + (int64_t)((uintptr_t)address - begin);
  }
  put_event((struct plait_event){.kind = PLAIT_EVENT_SYNC,
                                 .interface = PLAIT_INTERFACE_MMAP,
                                 .file = file,
                                 .start = start,
                                 .offset = offset,
                                 .length = (int64_t)size,
                                 .result = result});
  return result;
}

long capture_msync(void* address, size_t size, int flags, uintptr_t caller) {
  return sync_and_record(&(struct sync_call){CHAIN_END, address, size, flags, false}, caller);
}
BOTH(int, msync, (void* address, size_t size, int flags),
     return (int)answer(next, sync_and_record(&(struct sync_call){next, address, size, flags, true}, CALLER()));)
