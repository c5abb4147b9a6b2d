/*
 * The recording of a process: its beginning and end, its names, and its children.
 *
 * A process has a chunk with its properties and the names of its files. Names are written under plait_lock(); the
 * numbers of files and operations come from atomic counters.
 *
 * `plait_live` is a page that the kernel clears in the child of a fork (MADV_WIPEONFORK). A child thus finds generation
 * 0 at its first event and begins its own recording, however it was forked. Example: generation 3 of the parent
 * stays 3 there and is 0 in the child, which sets it to a new number after it has made its own process chunk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/events/internal.h"

enum { PROCESS_CHUNK = 1 << 10, NAMES_CHUNK = 1 << 12, LARGEST_NAMES = 1 << 16, LONGEST_COMMAND = 4096 };

struct plait_process plait_this_process;
struct plait_live* plait_live;
int plait_on;

static int lock;
static uint32_t generation; /* number of the last beginning; never 0 in a state in use */
static uint32_t next_file;
static uint64_t next_operation;
static uint32_t first_file;
static uint64_t first_operation;
static char command_text[LONGEST_COMMAND];
static int64_t known_rank;

/* The signals that the holder of the lock has blocked (the kernel's set), and a flag that is set if it has. */
static uint64_t signals_before;
static int signals_blocked;

void plait_lock(void) {
  /* The kernel's set includes the signals by which the C library cancels a thread, which would leave the lock held. */
  const uint64_t all = ~UINT64_C(0);
  uint64_t before = 0;
  /* After its end the process may not be allowed to make additional system calls. */
  const int block = plait_on && syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all) == 0;
  while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  signals_before = before;
  signals_blocked = block;
}

void plait_unlock(void) {
  /* Read while the lock is held: the next holder overwrites it. */
  const uint64_t before = signals_before;
  const int blocked = signals_blocked;
  __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  if (blocked) (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

/* Returns the start time of this process: field 22 of its status, which follows the command in parentheses. */
static uint64_t started(void) {
  char text[1024];
  const long bytes_read = plait_file_read("/proc/self/stat", text, sizeof text - 1);
  if (bytes_read <= 0) return 0;
  text[bytes_read] = 0;
  const char* at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; ++field) {
    at = strchr(at, ' ');
    if (at != NULL) ++at;
  }
  return at == NULL ? 0 : strtoull(at, NULL, 10);
}

/* Makes this process's chunk.  returns  0 or an errno. */
static int enter(uint64_t parent_image) {
  struct plait_process* self = &plait_this_process;
  const size_t command = strnlen(command_text, sizeof command_text);
  const size_t needed = sizeof(struct plait_chunk) + sizeof(struct plait_process_block) + command;
  uint32_t size = PROCESS_CHUNK;
  while (size < needed + 256) size += PLAIT_TRACE_UNIT; /* and capacity for some names */
  struct plait_reservation reserved = {0, 0, 0};
  memset(self, 0, sizeof *self);
  self->id = (uint32_t)plait_process_id();
  self->image = (uint64_t)plait_events_now();
  const int error = plait_file_chunk(&self->mapping, &reserved, size, PLAIT_CHUNK_PROCESS, self->id);
  if (error != 0) return error;
  self->block = (struct plait_process_block*)(void*)self->mapping.at;
  self->block->started = started();
  self->block->parent_image = parent_image;
  self->block->parent = (uint32_t)getppid();
  self->block->rank = known_rank;
  self->block->begin = (int64_t)self->image;
  self->block->cpu = -1;
  self->block->first_operation = first_operation;
  self->block->first_file = first_file;
  self->block->command_bytes = (uint32_t)command;
  unsigned char* at = self->mapping.at + sizeof *self->block;
  memcpy(at, command_text, command);
  plait_file_publish(&self->mapping, at + command);
  self->names_size = NAMES_CHUNK;
  return 0;
}

/* Makes the memory by which the child of a fork recognizes itself. */
static int make_live(void) {
  if (plait_live != NULL) return 0;
  const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  struct plait_live* live = plait_file_memory(bytes);
  if (live == NULL) return ENOMEM;
  (void)madvise(live, bytes, MADV_WIPEONFORK); /* an old kernel: plait_events_forked must be called */
  plait_live = live;
  return 0;
}

int plait_events_begin(const char* path, const char* command, int rank, uint32_t file, uint64_t operation) {
  if (plait_events_active()) return EALREADY;
  const int saved = errno;
  plait_local.inside = PLAIT_FRAME();
  plait_clock_begin();
  int error = make_live();
  if (error == 0) error = plait_threads_begin();
  if (error == 0) error = plait_file_join(path);
  if (error == 0) {
    command_text[0] = 0;
    if (command != NULL) strncat(command_text, command, sizeof command_text - 1);
    known_rank = rank;
    first_file = next_file = file != 0 ? file : 1;
    first_operation = next_operation = operation != 0 ? operation : 1;
    error = enter(0);
  }
  if (error == 0) {
    plait_live->generation = ++generation;
    __atomic_store_n(&plait_on, 1, __ATOMIC_RELEASE); /* last: a thread that sees it set sees all of the above */
  }
  plait_local.inside = 0;
  errno = saved;
  return error;
}

void plait_events_forked(void) {
  if (!plait_events_active() || (uint32_t)plait_process_id() == plait_this_process.id) return;
  const int saved = errno;
  const uintptr_t inside = plait_local.inside;
  if (inside == 0) plait_local.inside = PLAIT_FRAME();
  __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); /* its holder is not in this process */
  const uint64_t parent = plait_this_process.image;
  plait_threads_discard();
  plait_file_release(&plait_this_process.mapping);
  plait_file_release(&plait_this_process.names);
  plait_file_release(&plait_this_process.account);
  if (enter(parent) == 0) {
    plait_live->generation = ++generation;
  } else {
    plait_on = 0;
  }
  plait_local.inside = inside;
  errno = saved;
}

struct plait_account* plait_events_account(void) {
  struct plait_mapping* mapping = &plait_this_process.account;
  struct plait_reservation reserved = {0, 0, 0};
  _Static_assert(sizeof(struct plait_chunk) + sizeof(struct plait_account) == PLAIT_ACCOUNT_CHUNK, "no padding");
  if (!plait_events_active() || mapping->chunk != NULL) return NULL;
  if (plait_file_chunk(mapping, &reserved, PLAIT_ACCOUNT_CHUNK, PLAIT_CHUNK_ACCOUNT, plait_this_process.id) != 0)
    return NULL;
  unsigned char* at = mapping->at;
  memset(at, 0, sizeof(struct plait_account));
  plait_file_publish(mapping, at + sizeof(struct plait_account));
  return (struct plait_account*)(void*)at;
}

static void record_end(struct plait_process_block* block) {
  struct timespec used;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0)
    block->cpu = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
  block->end = plait_events_now();
  __atomic_store_n(&block->ended, 1, __ATOMIC_RELEASE); /* last: a process killed before this has not ended */
}

void plait_events_replaced(int replaced) {
  if (!plait_events_active() || (uint32_t)plait_process_id() != plait_this_process.id) return; /* vfork's child */
  struct plait_process_block* block = plait_this_process.block;
  if (replaced) {
    record_end(block);
  } else {
    __atomic_store_n(&block->ended, 0, __ATOMIC_RELEASE); /* first, for the same reason */
    block->end = 0;
    block->cpu = -1;
  }
}

void plait_events_end(void) {
  if (!plait_events_active()) return;
  if (plait_live->generation == 0) plait_events_forked(); /* a child that has recorded nothing yet */
  if (!plait_events_active() || (uint32_t)plait_process_id() != plait_this_process.id) return; /* vfork's child */
  record_end(plait_this_process.block);
  __atomic_store_n(&plait_on, 0, __ATOMIC_RELEASE);
}

void plait_events_rank(int rank) {
  known_rank = rank;
  if (plait_events_active() && plait_live->generation != 0) plait_this_process.block->rank = rank;
}

/* Records a name; the lock is held. */
static void record_name(uint32_t number, const char* name) {
  struct plait_process* self = &plait_this_process;
  size_t bytes = strnlen(name, 4096);
  struct plait_mapping* mapping = self->names.chunk != NULL ? &self->names : &self->mapping;
  const size_t needed = bytes + 16;
  if ((size_t)(mapping->end - mapping->at) < needed) {
    if (mapping == &self->names) plait_file_release(mapping);
    mapping = &self->names;
    while (self->names_size < needed + sizeof(struct plait_chunk)) self->names_size *= 2;
    if (plait_file_chunk(mapping, &self->names_reserved, self->names_size, PLAIT_CHUNK_NAMES, self->id) != 0) {
      __atomic_fetch_add(&self->block->missed[PLAIT_MISSED_MEMORY][0], 1, __ATOMIC_RELAXED);
      return;
    }
    if (self->names_size < LARGEST_NAMES) self->names_size *= 4;
  }
  unsigned char* at = plait_put_varint(mapping->at, number);
  at = plait_put_varint(at, bytes);
  memcpy(at, name, bytes);
  plait_file_publish(mapping, at + bytes);
}

uint32_t plait_events_name(const char* name) {
  if (!plait_events_active()) return 0;
  if (!plait_thread_enter(PLAIT_FRAME())) return __atomic_fetch_add(&next_file, 1, __ATOMIC_RELAXED); /* no name */
  if (plait_live->generation == 0) plait_events_forked();
  const uint32_t number = __atomic_fetch_add(&next_file, 1, __ATOMIC_RELAXED);
  if (plait_events_active()) {
    plait_lock();
    record_name(number, name);
    plait_unlock();
  }
  plait_local.inside = 0;
  return number;
}

uint64_t plait_events_operation(void) { return __atomic_fetch_add(&next_operation, 1, __ATOMIC_RELAXED); }

void plait_events_missed(enum plait_missed reason, int64_t events, int64_t read_bytes, int64_t written_bytes) {
  if (!plait_events_active() || (unsigned)reason >= PLAIT_TRACE_MISSED) return;
  if (plait_live->generation == 0) plait_events_forked();
  if (!plait_events_active()) return;
  /* Does not enter the writer, because handlers count here too. Relaxed order suffices for sums that are read after
   * the end. */
  int64_t* counts = plait_this_process.block->missed[reason];
  __atomic_fetch_add(&counts[0], events, __ATOMIC_RELAXED);
  __atomic_fetch_add(&counts[1], read_bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&counts[2], written_bytes, __ATOMIC_RELAXED);
}
