/*
 * Records one event.
 *
 * A thread writes into its own chunk, so it needs no lock. A signal handler that interrupts the writer must not
 * write into the same chunk: `inside` holds the stack frame that has entered, and an event put meanwhile is counted as
 * missed.
 *
 * Chunks of a thread grow by a factor of 8, so that a thread with few events occupies little of the file. Example: the
 * first chunk has 1 KiB, the second one 8 KiB, and all later ones have 64 KiB.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "base/events/internal.h"

enum { FIRST_CHUNK = 1 << 10, LARGEST_CHUNK = 1 << 16, SAMPLE_INTERVAL = 1000000 /* ns */ };

/* Counts a missing event together with the bytes that it transferred. */
static void count_missed(enum plait_missed reason, const struct plait_event* event) {
  const int64_t moved = event->result > 0 ? event->result : 0;
  plait_events_missed(reason, 1, event->kind == PLAIT_EVENT_READ ? moved : 0,
                      event->kind == PLAIT_EVENT_WRITE ? moved : 0);
}

/* Reserves a new chunk. A thread's first chunks are small, because most threads are short-lived.  returns  nonzero if
 * there is one. */
static int renew(struct plait_thread* state, int64_t base) {
  if (state->next_size == 0) state->next_size = FIRST_CHUNK;
  plait_file_release(&state->mapping);
  if (plait_file_chunk(&state->mapping, &state->reserved, state->next_size, PLAIT_CHUNK_EVENTS, state->thread) != 0)
    return 0;
  state->next_size = state->next_size * 8 < LARGEST_CHUNK ? state->next_size * 8 : LARGEST_CHUNK;
  struct plait_chunk* chunk = state->mapping.chunk;
  chunk->base = base;
  chunk->first = base;
  chunk->last = base;
  state->greatest = base;
  state->fresh = 0;
  plait_delta_begin(&state->delta, base);
  return 1;
}

/* Samples the CPU time. The caller does so at intervals, because it costs a system call. */
static void sample(struct plait_thread* state, int64_t now) {
  struct timespec used;
  state->sampled = now;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0)
    state->cpu = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Writes an event into the thread's chunk, or counts it as missed if there is none. */
static void write_event(struct plait_thread* state, const struct plait_event* event) {
  const int64_t end = event->duration > 0 ? event->start + event->duration : event->start;
  if (end - state->sampled >= SAMPLE_INTERVAL) sample(state, end);
  struct plait_mapping* mapping = &state->mapping;
  if (mapping->end - mapping->at < PLAIT_TRACE_LONGEST && !renew(state, event->start)) {
    count_missed(PLAIT_MISSED_MEMORY, event);
    return;
  }
  struct plait_chunk* chunk = mapping->chunk;
  unsigned char* at = mapping->at;
  if (state->fresh) { /* the chunk was begun by another thread */
    *at++ = PLAIT_TAG_RENEW;
    at = plait_put_varint(at, plait_this_process.id);
    at = plait_put_varint(at, state->thread);
    plait_delta_begin(&state->delta, chunk->base);
    state->fresh = 0;
  }
  at = plait_delta_put(&state->delta, at, event, state->cpu);
  /* The header's time bounds are stored before the record is published, so that they include all valid records
   * whenever the process is killed. */
  if (event->start < chunk->first) chunk->first = event->start;
  if (event->start >= state->greatest) {
    state->greatest = event->start;
    chunk->last = event->start;
  } else if ((uint64_t)state->greatest - (uint64_t)event->start > chunk->back) {
    chunk->back = (uint64_t)state->greatest - (uint64_t)event->start;
  }
  ++chunk->events;
  plait_file_publish(mapping, at);
}

int plait_events_active(void) { return __atomic_load_n(&plait_on, __ATOMIC_ACQUIRE); }

void plait_events_put(const struct plait_event* event) {
  if (!plait_events_active()) return;
  if (!plait_thread_enter(PLAIT_FRAME())) {
    count_missed(PLAIT_MISSED_CALL, event); /* put by a signal handler */
    return;
  }
  struct plait_thread* state = plait_local.state;
  /* Another generation: this is the child of a fork, or recording has begun again. */
  if (state == NULL || state->generation != plait_live->generation) state = plait_thread_state();
  if (state != NULL)
    write_event(state, event);
  else
    count_missed(PLAIT_MISSED_MEMORY, event);
  __atomic_signal_fence(__ATOMIC_SEQ_CST); /* completes the event before a handler may enter */
  plait_local.inside = 0;
}
