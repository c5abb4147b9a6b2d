/* Mappings of files. Loads and stores in a mapping are not visible, so its size is counted as missed bytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

// The mappings of files, by which munmap of a file differs from the release of other memory. If there are MAX_MAPPINGS,
// further ones are not stored, and their munmap is not recorded.
enum { MAX_MAPPINGS = 4096 };
// The address of each mapping; 0: the slot is free, 1: it is being written. In an array of its own for fast searches.
static _Atomic uintptr_t mapping_begins[MAX_MAPPINGS];
struct mapped_range {
  uintptr_t size;
  int64_t offset;
  uint32_t file;
};
static struct mapped_range mappings[MAX_MAPPINGS];
static _Atomic int slots_used;      // number of slots that were ever used
static _Atomic int live_mappings;   // number of stored mappings
static _Atomic int free_slot_hint;  // a slot that may be free, at which searches begin

static void add_mapping(uintptr_t begin, size_t size, int64_t offset, uint32_t file) {
  if (atomic_load(&live_mappings) >= MAX_MAPPINGS) return;
  const int first = atomic_load(&free_slot_hint);
  for (int tried = 0; tried < MAX_MAPPINGS; ++tried) {
    const int i = (first + tried) % MAX_MAPPINGS;
    uintptr_t free_slot = atomic_load_explicit(&mapping_begins[i], memory_order_relaxed);
    if (free_slot != 0 || !atomic_compare_exchange_strong(&mapping_begins[i], &free_slot, 1)) continue;
    mappings[i].size = size;
    mappings[i].offset = offset;
    mappings[i].file = file;
    atomic_store(&mapping_begins[i], begin);
    atomic_store(&free_slot_hint, (i + 1) % MAX_MAPPINGS);
    atomic_fetch_add(&live_mappings, 1);
    int seen_used = atomic_load(&slots_used);
    while (seen_used <= i && !atomic_compare_exchange_weak(&slots_used, &seen_used, i + 1)) continue;
    return;
  }
}

// Removes the mappings that begin in a range of addresses, and records that they are unmapped.
static void put_unmap(uintptr_t begin, size_t size, int64_t start, uintptr_t caller) {
  for (int i = 0, count = atomic_load(&slots_used); i < count && atomic_load(&live_mappings) > 0; ++i) {
    uintptr_t address = atomic_load_explicit(&mapping_begins[i], memory_order_acquire);
    if (address <= 1 || address - begin >= size) continue;
    const struct mapped_range range = {
        .size = mappings[i].size, .offset = mappings[i].offset, .file = mappings[i].file};
    if (!atomic_compare_exchange_strong(&mapping_begins[i], &address, 0)) continue;
    atomic_store(&free_slot_hint, i);
    atomic_fetch_sub(&live_mappings, 1);
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

static long call_map(const struct map_call* call) {
  if (call->next != CHAIN_END)
    return chain_call(
        call->next, 0,
        ARGUMENTS((long)call->address, (long)call->size, call->protection, call->flags, call->fd, call->offset));
  return RAW6(SYS_mmap, call->address, call->size, call->protection, call->flags, call->fd, call->offset);
}

static long map_and_record(const struct map_call* call, uintptr_t caller) {
  if ((call->flags & MAP_ANONYMOUS) || call->fd < 0 || chain_inside() || !capture_should_record(caller) ||
      capture_in_borrowed_memory())
    return call_map(call);
  const size_t size = call->size;
  const int protection = call->protection;
  const int64_t offset = call->offset;
  const struct description* description = table_find(call->fd);
  const int64_t start = capture_now();
  const long result = call_map(call);
  const bool failed = (unsigned long)result > -4096UL;
  const uint32_t file = description == NULL ? 0 : atomic_load(&description->file);
  const bool stored = (protection & PROT_WRITE) && (call->flags & MAP_TYPE) != MAP_PRIVATE;
  put_event((struct plait_event){.kind = PLAIT_EVENT_MAP,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_MMAP),
                                 .file = file,
                                 .start = start,
                                 .offset = offset,
                                 .length = (int64_t)size,
                                 .result = failed ? result : 0,
                                 .flags = stored ? 0 : PLAIT_EVENT_READ_ONLY});
  if (!failed) {
    add_mapping((uintptr_t)result, size, offset, file);
    // The C library's own tables are not data of the program, and shared memory and devices are not files.
    const uint32_t about = description == NULL ? 0 : atomic_load(&description->flags);
    if (!text_has(&capture_libc_text, caller) && (about & DESCRIPTION_SEEKABLE) && !(about & DESCRIPTION_MEMORY))
      plait_events_missed(PLAIT_MISSED_MAPPED, 1, protection & PROT_READ ? (int64_t)size : 0,
                          stored ? (int64_t)size : 0);
  }
  return result;
}

long capture_mmap(void* address, size_t size, int protection, int flags, int fd, int64_t offset, uintptr_t caller) {
  return map_and_record(&(struct map_call){CHAIN_END, address, size, protection, flags, fd, offset}, caller);
}

#define MAP()                   \
  return (void*)library_result( \
      next, map_and_record(&(struct map_call){next, address, size, protection, flags, fd, offset}, CALLER()));
BOTH(void*, mmap64, (void* address, size_t size, int protection, int flags, int fd, off64_t offset), MAP())
CHAINED(void*, mmap, (void* address, size_t size, int protection, int flags, int fd, off_t offset), MAP())

long capture_munmap(void* address, size_t size, struct next_call* next, uintptr_t caller) {
  // Recorded before the call: as soon as the range is unmapped, another thread may map something there.
  if (atomic_load(&live_mappings) > 0 && !chain_inside() && capture_should_record(caller) &&
      !capture_in_borrowed_memory())
    put_unmap((uintptr_t)address, size, plait_events_now(), caller);
  return next != CHAIN_END ? chain_call(next, 0, ARGUMENTS((long)address, (long)size))
                           : RAW2(SYS_munmap, address, size);
}
BOTH(int, munmap, (void* address, size_t size),
     return (int)library_result(next, capture_munmap(address, size, next, CALLER()));)

struct sync_call {
  struct next_call* next;
  void* address;
  size_t size;
  int flags;
  bool cancellable;
};

static long call_sync(const struct sync_call* call) {
  if (call->next != CHAIN_END)
    return chain_call(call->next, 0, ARGUMENTS((long)call->address, (long)call->size, call->flags));
  int type;
  const bool may_cancel = call->cancellable && cancel_begin(&type);
  const long result = RAW3(SYS_msync, call->address, call->size, call->flags);
  if (may_cancel) cancel_end(type);
  return result;
}

static long sync_and_record(const struct sync_call* call, uintptr_t caller) {
  const void* address = call->address;
  const size_t size = call->size;
  const int64_t start = capture_now();
  const long result = call_sync(call);
  if (!capture_should_record(caller) || (call->next != CHAIN_END && chain_inside())) return result;
  uint32_t file = 0;
  int64_t offset = -1;
  for (int i = 0, count = atomic_load(&slots_used); i < count; ++i) {
    const uintptr_t begin = atomic_load(&mapping_begins[i]);
    if (begin <= 1 || (uintptr_t)address - begin >= mappings[i].size) continue;
    file = mappings[i].file;
    offset = mappings[i].offset + (int64_t)((uintptr_t)address - begin);
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
     return (int)library_result(next,
                                sync_and_record(&(struct sync_call){next, address, size, flags, true}, CALLER()));)
