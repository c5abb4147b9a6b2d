/* What the parts of the C writer share. */
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
  unsigned char* at;         /* where the next record goes */
  unsigned char* end;
  void* pages; /* what is mapped, the pages around the chunk */
  size_t page_bytes;
};

/* The bytes of the file that are reserved for a chunk that could not be made yet, and when to try again. */
struct plait_reservation {
  uint64_t position;
  uint32_t size;
  int64_t retry;
};

/* A thread that keeps events, or one that ended and whose chunk waits for another thread. */
struct plait_thread {
  struct plait_thread* next;      /* of all */
  struct plait_thread* next_idle; /* of those without a thread */
  uint32_t generation;
  uint32_t thread;
  int fresh; /* the next event begins a context of its own */
  struct plait_mapping mapping;
  struct plait_reservation reserved;
  uint32_t next_size;
  int64_t greatest; /* start in the present chunk */
  int64_t sampled;  /* when cpu was looked at */
  int64_t cpu;
  struct plait_delta delta;
};

/* The process's own part.  Lies in memory that a fork leaves empty, so that a child knows itself as one. */
struct plait_live {
  uint32_t generation; /* which beginning this is; 0: the child of a fork, or none yet */
  uint32_t spare;
};

/* file.c: the file, by raw system calls, since the library that is preloaded defines open and its like itself. */

/* Joins or makes the trace; on success its path, header and identity are kept.  returns  0 or an errno. */
int plait_file_join(const char* path);
/* Takes `size` bytes of the file and maps them with the front of a chunk of this process filled in.  returns  0 or an
 * errno, after which `reserved` keeps what was taken for another attempt, a second later at the earliest. */
int plait_file_chunk(struct plait_mapping* mapping, struct plait_reservation* reserved, uint32_t size, uint32_t kind,
                     uint32_t thread);
/* Lets go of the memory; what was written stays in the file. */
void plait_file_release(struct plait_mapping* mapping);
/* Makes what was written up to `at` valid. */
void plait_file_publish(struct plait_mapping* mapping, unsigned char* at);
/* A page or more of memory that is not malloc's; null: none. */
void* plait_file_memory(size_t bytes);
/* All of a small file; returns its bytes, -1: not there. */
long plait_file_read(const char* path, char* room, size_t bytes);
int plait_process_id(void);
int plait_thread_id(void);

/* process.c */

struct plait_process {
  struct plait_mapping mapping; /* the process chunk, kept to the end */
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
/* One at a time through the tables of the process.  Signals are blocked meanwhile: a handler that jumps out would leave
 * the lock behind. */
void plait_lock(void);
void plait_unlock(void);

/* thread.c */

struct plait_local {
  struct plait_thread* state;
  uintptr_t inside; /* the frame that is in the writer; 0: none */
};
extern __thread struct plait_local plait_local __attribute__((tls_model("initial-exec")));

/* Makes good what a frame left half done that a signal handler jumped out of.  returns  whether there was one: no if
 * it lives, and the frame at `here` is that of a handler that came in meanwhile. */
int plait_thread_recover(uintptr_t here);
/* Goes in.  returns  whether the caller is in now, who sets `inside` to 0 in the end. */
static inline int plait_thread_enter(uintptr_t here) {
  if (__builtin_expect(plait_local.inside != 0, 0) && !plait_thread_recover(here)) return 0;
  plait_local.inside = here;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return 1;
}

/* Once: how a thread's end is noticed.  returns  0 or an errno. */
int plait_threads_begin(void);
/* The calling thread's state, fit for the present generation; null: no memory.  `inside` is set. */
struct plait_thread* plait_thread_state(void);
/* In the child of a fork: lets go of all chunks of the parent's threads. */
void plait_threads_forget(void);

#pragma GCC visibility pop
