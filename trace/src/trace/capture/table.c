/*
 * The table of open descriptors.
 *
 * It maps descriptors to open file descriptions, in blocks that are allocated when needed, up to 2^20 descriptors.
 * Descriptions come from a pool of blocks. Neither shrinks or is freed, so that a call in progress while another thread
 * closes its descriptor reads old memory at worst. The table is lock-free, because open and close may be called in
 * signal handlers.
 *
 * The free list is a stack of description numbers. The upper half of its word counts its changes: without that, a
 * thread that reads the first number 5 and its successor 3, and is then interrupted while others pop 5 and 3 and push
 * 5, would wrongly make 3 the first one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/capture/capture.h"

enum { PER_BLOCK = 1024, BLOCKS = 1024 };

_Atomic uint32_t capture_forks;

typedef _Atomic uint32_t entry;  // number of the description, 0: unknown
static _Atomic(entry*) entries[BLOCKS];
static _Atomic(struct description*) descriptions[BLOCKS];
static _Atomic uint32_t description_count;  // number of descriptions ever made
static _Atomic uint64_t free_list;          // number of the first free description, and above it a count of changes

// Returns new memory, filled with zeros; NULL: there is none.
static void* map_memory(size_t size) {
  const long address = RAW6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return (unsigned long)address > -4096UL ? NULL : (void*)address;
}

// Returns the entry of a descriptor; NULL if its block does not exist and `make` is false, or there is no memory.
static entry* find_entry(int fd, bool make) {
  if (fd < 0 || fd >= PER_BLOCK * BLOCKS) return NULL;
  _Atomic(entry*)* slot = &entries[fd / PER_BLOCK];
  entry* block = atomic_load_explicit(slot, memory_order_acquire);
  if (block == NULL) {
    if (!make) return NULL;
    block = map_memory(PER_BLOCK * sizeof(entry));
    if (block == NULL) return NULL;
    entry* other = NULL;
    if (!atomic_compare_exchange_strong(slot, &other, block)) {
      RAW2(SYS_munmap, block, PER_BLOCK * sizeof(entry));
      block = other;
    }
  }
  return &block[fd % PER_BLOCK];
}

static struct description* find_description(uint32_t number) {
  if (number == 0) return NULL;
  struct description* block = atomic_load_explicit(&descriptions[(number - 1) / PER_BLOCK], memory_order_acquire);
  return block == NULL ? NULL : &block[(number - 1) % PER_BLOCK];
}

static struct description* new_description(void) {
  uint64_t head = atomic_load(&free_list);
  while ((uint32_t)head != 0) {
    struct description* description = find_description((uint32_t)head);
    if (description == NULL) break;
    const uint64_t next = ((head >> 32) + 1) << 32 | atomic_load(&description->next_free);
    if (atomic_compare_exchange_weak(&free_list, &head, next)) return description;
  }
  const uint32_t number = atomic_fetch_add(&description_count, 1) + 1;
  if (number > PER_BLOCK * BLOCKS) return NULL;
  _Atomic(struct description*)* slot = &descriptions[(number - 1) / PER_BLOCK];
  if (atomic_load_explicit(slot, memory_order_acquire) == NULL) {
    struct description* block = map_memory(PER_BLOCK * sizeof(struct description));
    if (block == NULL) return NULL;
    struct description* other = NULL;
    if (!atomic_compare_exchange_strong(slot, &other, block))
      RAW2(SYS_munmap, block, PER_BLOCK * sizeof(struct description));
  }
  struct description* description = find_description(number);
  if (description != NULL) description->number = number;
  return description;
}

static void free_description(struct description* description) {
  uint64_t head = atomic_load(&free_list);
  uint64_t next;
  do {
    atomic_store(&description->next_free, (uint32_t)head);
    next = ((head >> 32) + 1) << 32 | description->number;
  } while (!atomic_compare_exchange_weak(&free_list, &head, next));
}

// The kernel's name of a descriptor: a path, or a name such as "pipe:[123]". Most names are short, and so is a signal
// handler's stack; a long name is stored in a page of its own.
struct name {
  char text[512];
  char* page;
};
enum { LONGEST_NAME = 4096 };

bool table_name(int fd, char* name, size_t capacity) {
  char link[32] = "/proc/self/fd/";
  char digits[12];
  int count = 0;
  do digits[count++] = (char)('0' + fd % 10);
  while ((fd /= 10) > 0);
  size_t length = strlen(link);
  while (count > 0) link[length++] = digits[--count];
  link[length] = 0;
  const long size = RAW4(SYS_readlinkat, AT_FDCWD, link, name, capacity - 1);
  if (size <= 0) return false;
  name[size] = 0;
  return true;
}

// returns  the name; NULL: there is none.
static const char* read_name(int fd, struct name* name) {
  name->page = NULL;
  if (!table_name(fd, name->text, sizeof name->text)) return NULL;
  if (strlen(name->text) + 1 < sizeof name->text) return name->text;
  name->page = map_memory(LONGEST_NAME);
  return name->page != NULL && table_name(fd, name->page, LONGEST_NAME) ? name->page : name->text;
}

static void release_name(struct name* name) {
  if (name->page != NULL) RAW2(SYS_munmap, name->page, LONGEST_NAME);
}

// Returns the description_flags of a descriptor with these status flags (O_APPEND and so on).
static uint32_t read_description_flags(int fd, int status) {
  uint32_t flags = 0;
  struct stat about;
#ifdef SYS_newfstatat
  const long result = RAW4(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH);
#else
  const long result = RAW2(SYS_fstat, fd, &about);
#endif
  if (result == 0 && (S_ISREG(about.st_mode) || S_ISBLK(about.st_mode))) flags |= DESCRIPTION_SEEKABLE;
  if (status & O_APPEND) flags |= DESCRIPTION_APPEND;
  if (status & O_DIRECT) flags |= DESCRIPTION_DIRECT;
  if (status & O_DSYNC) flags |= DESCRIPTION_DURABLE;  // O_SYNC includes this bit
  return flags;
}

// True for named memory: POSIX and System V shared memory, memfd_create.
static bool is_memory(const char* name) {
  return strncmp(name, "/dev/shm/", 9) == 0 || strncmp(name, "/memfd:", 7) == 0 || strncmp(name, "/SYSV", 5) == 0;
}

static void initialize_description(struct description* description, const char* name, uint32_t flags) {
  atomic_store(&description->position, flags & DESCRIPTION_SHARED ? -1 : 0);
  atomic_store(&description->begun, 0);
  atomic_store(&description->ended, 0);
  atomic_store(&description->descriptors, 1);
  atomic_store(&description->flags, flags | (is_memory(name) ? DESCRIPTION_MEMORY : 0));
  description->forks = atomic_load(&capture_forks);
  atomic_store(&description->file, plait_events_name(name));
}

struct description* table_find_known(int fd) {
  entry* slot = find_entry(fd, false);
  return slot == NULL ? NULL : find_description(atomic_load_explicit(slot, memory_order_acquire));
}

struct description* table_find(int fd) {
  struct description* existing = table_find_known(fd);
  if (LIKELY(existing != NULL)) return existing;
  entry* slot = find_entry(fd, true);
  if (slot == NULL) return NULL;
  const long status = RAW2(SYS_fcntl, fd, F_GETFL);
  struct name buffer;
  const char* name = status < 0 ? NULL : read_name(fd, &buffer);
  if (name == NULL) return NULL;
  struct description* description = new_description();
  if (description != NULL)
    initialize_description(description, name, read_description_flags(fd, (int)status) | DESCRIPTION_SHARED);
  release_name(&buffer);
  if (description == NULL) return NULL;
  uint32_t other = 0;
  if (atomic_compare_exchange_strong(slot, &other, description->number)) return description;
  free_description(description);
  return find_description(other);
}

struct description* table_open(int fd, const char* name, int flags) {
  entry* slot = find_entry(fd, true);
  struct description* description = slot == NULL ? NULL : new_description();
  if (description == NULL) return NULL;
  struct name buffer = {.page = NULL};
  // A file without a name was opened by the name of its folder.
  if (name == NULL || *name != '/' || (flags & O_TMPFILE) == O_TMPFILE) {
    const char* kernel_name = read_name(fd, &buffer);
    if (kernel_name != NULL) name = kernel_name;
  }
  initialize_description(description, name == NULL ? "" : name, flags & O_PATH ? 0 : read_description_flags(fd, flags));
  release_name(&buffer);
  struct description* old = find_description(atomic_exchange(slot, description->number));
  // The descriptor was closed by a call that was not recorded.
  if (old != NULL) table_release(old, plait_events_now(), 0);
  return description;
}

void table_duplicate(int from, int to) {
  struct description* description = table_find_known(from);
  entry* slot = find_entry(to, description != NULL);
  if (slot == NULL || from == to) return;
  if (description != NULL) atomic_fetch_add(&description->descriptors, 1);
  struct description* old = find_description(atomic_exchange(slot, description == NULL ? 0 : description->number));
  if (old != NULL) table_release(old, plait_events_now(), 0);
}

struct description* table_remove(int fd) {
  entry* slot = find_entry(fd, false);
  return slot == NULL ? NULL : find_description(atomic_exchange(slot, 0));
}

void table_release(struct description* description, int64_t start, uintptr_t caller) {
  if (atomic_fetch_sub(&description->descriptors, 1) != 1) return;
  put_event((struct plait_event){.kind = PLAIT_EVENT_CLOSE,
                                 .interface = capture_interface(caller, PLAIT_INTERFACE_POSIX),
                                 .file = atomic_load(&description->file),
                                 .start = start,
                                 .offset = -1});
  free_description(description);
}

void table_close_range(unsigned first, unsigned last, int64_t start, uintptr_t caller) {
  if (last >= PER_BLOCK * BLOCKS) last = PER_BLOCK * BLOCKS - 1;
  for (unsigned fd = first; fd <= last; ++fd) {
    if (fd % PER_BLOCK == 0 && atomic_load(&entries[fd / PER_BLOCK]) == NULL) {
      fd += PER_BLOCK - 1;
      continue;
    }
    struct description* description = table_remove((int)fd);
    if (description != NULL) table_release(description, start, caller);
  }
}

void table_set_status(int fd, int flags) {
  struct description* description = table_find_known(fd);
  if (description == NULL) return;
  uint32_t new_flags = atomic_load(&description->flags) & ~(uint32_t)(DESCRIPTION_APPEND | DESCRIPTION_DIRECT);
  if (flags & O_APPEND) new_flags |= DESCRIPTION_APPEND;
  if (flags & O_DIRECT) new_flags |= DESCRIPTION_DIRECT;
  atomic_store(&description->flags, new_flags);
}
