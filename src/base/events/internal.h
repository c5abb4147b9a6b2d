/* Declarations shared by the parts of the C writer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/events/clock.h"
#include "base/events/delta.h"
#include "base/events/events.h"
#include "base/events/format.h"
#include "base/events/frame.h"

#pragma GCC visibility push(hidden)

enum { PLAIT_PATH_BYTES = 4352 };

/* A chunk in memory. */
struct plait_mapping {
  struct plait_chunk* chunk; /* null: none */
  unsigned char* at;         /* position of the next record */
  unsigned char* end;
  void* pages; /* the mapped pages, which contain the chunk */
  size_t page_bytes;
};

/* The bytes of the file that are reserved for a chunk that could not be made yet, and the time of the next attempt. */
struct plait_reservation {
  uint64_t position;
  uint32_t size;
  int64_t retry;
};

/* A thread that records events, or one that has ended and whose chunk waits for another thread. */
struct plait_thread {
  struct plait_thread* next;      /* in the list of all states */
  struct plait_thread* next_idle; /* in the list of states without a thread */
  uint32_t generation;
  uint32_t thread;
  int fresh; /* the next event begins a new context: the chunk has events of a thread that has ended */
  struct plait_mapping mapping;
  struct plait_reservation reserved;
  uint32_t next_size;
  int64_t greatest; /* largest start in the current chunk */
  int64_t sampled;  /* time of the last sample of cpu */
  int64_t cpu;
  struct plait_delta delta;
};

/* The state of the process itself. It is stored in memory that is zero in the child of a fork, so that a child
 * recognizes itself. */
struct plait_live {
  uint32_t generation; /* number of this beginning; 0: the child of a fork, or none yet */
  uint32_t spare;
};

/* file.c: access to the file by raw system calls, because the preloaded library defines open and similar functions
 * itself. */

/* Joins or makes the trace; on success its path, header and identity are stored.  returns  0 or an errno. */
int plait_file_join(const char* path);
/* Allocates `size` bytes of the file and maps them with the header of a chunk of this process.  returns  0 or an
 * errno, after which `reserved` contains the allocated bytes for another attempt, at the earliest a second later. */
int plait_file_chunk(struct plait_mapping* mapping, struct plait_reservation* reserved, uint32_t size, uint32_t kind,
                     uint32_t thread);
/* Unmaps the chunk; its content stays in the file. */
void plait_file_release(struct plait_mapping* mapping);
/* Makes the bytes up to `at` valid. */
void plait_file_publish(struct plait_mapping* mapping, unsigned char* at);
/* Returns one or more pages of memory that do not come from malloc; null: none. */
void* plait_file_memory(size_t bytes);
/* Reads all of a small file; returns its bytes, -1: it does not exist. */
long plait_file_read(const char* path, char* buffer, size_t bytes);
int plait_process_id(void);
int plait_thread_id(void);

/* process.c */

struct plait_process {
  struct plait_mapping mapping; /* the process chunk, mapped until the end */
  struct plait_process_block* block;
  struct plait_mapping account;
  struct plait_mapping names;
  struct plait_reservation names_reserved;
  uint32_t names_size;
  uint32_t id;
  uint64_t image;
};

extern struct plait_process plait_this_process;
extern struct plait_live* plait_live;
extern int plait_on;
/* Locks the tables of the process. Signals are blocked meanwhile: a handler that jumps out would leave the lock held.
 */
void plait_lock(void);
void plait_unlock(void);

/* thread.c */

struct plait_local {
  struct plait_thread* state;
  uintptr_t inside; /* address of the stack frame that has entered the writer; 0: none */
};
extern __thread struct plait_local plait_local __attribute__((tls_model("initial-exec")));

/* Repairs the state that a frame left incomplete when a signal handler jumped out of it.  returns  nonzero if it did;
 * zero if that frame is alive, and the frame at `here` belongs to a handler that has interrupted it. */
int plait_thread_recover(uintptr_t here);
/* Enters the writer.  returns  nonzero on success; the caller sets `inside` to 0 at the end. */
static inline int plait_thread_enter(uintptr_t here) {
  if (__builtin_expect(plait_local.inside != 0, 0) && !plait_thread_recover(here)) return 0;
  plait_local.inside = here;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return 1;
}

/* Called once: registers the function that is called at a thread's end.  returns  0 or an errno. */
int plait_threads_begin(void);
/* Returns the calling thread's state for the current generation; null: no memory. `inside` is set. */
struct plait_thread* plait_thread_state(void);
/* Called in the child of a fork: unmaps all chunks of the parent's threads. */
void plait_threads_discard(void);

#pragma GCC visibility pop
