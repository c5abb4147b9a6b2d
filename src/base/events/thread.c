/*
 * The states of threads.
 *
 * A state owns a chunk of the file that is partly filled. When its thread ends, the state waits in the list `idle`, and
 * the next new thread continues in the same chunk with a new context. Example: a program that starts 1000
 * threads one after the other needs two states, one for the main thread and one for the others, and not 1000 chunks.
 *
 * The lists are protected by plait_lock(), which blocks signals. In the child of a fork only the forking thread exists,
 * so the states of all others become idle there, and the chunks of the parent are unmapped.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

#include "base/events/internal.h"

__thread struct plait_local plait_local __attribute__((tls_model("initial-exec")));

static pthread_key_t ending;
static int has_key;
static struct plait_thread* all;  /* all states; their number is the maximum number of threads at one time */
static struct plait_thread* idle; /* states of ended threads; the next thread continues their chunk */

int plait_thread_recover(uintptr_t here) {
  if (!plait_frame_gone(plait_local.inside, here)) return 0;
  struct plait_thread* state = plait_local.state;
  if (state != NULL) { /* its deltas may have changed without an event */
    plait_file_release(&state->mapping);
    state->reserved = (struct plait_reservation){0, 0, 0};
  }
  return 1;
}

/* Called when a thread ends. */
static void release_state(void* value) {
  struct plait_thread* state = value;
  if (plait_local.state != state) return;
  plait_local.inside = PLAIT_FRAME();
  plait_local.state = NULL; /* later events of destructors adopt a state, and release it again */
  plait_lock();
  state->next_idle = idle;
  idle = state;
  plait_unlock();
  plait_local.inside = 0;
}

int plait_threads_begin(void) {
  if (has_key) return 0;
  const int error = pthread_key_create(&ending, release_state);
  has_key = error == 0;
  return error;
}

/* Returns the state of a thread that has ended, or a new one. */
static struct plait_thread* adopt(void) {
  plait_lock();
  struct plait_thread* state = idle;
  if (state != NULL) idle = state->next_idle;
  plait_unlock();
  if (state == NULL) {
    state = plait_file_memory(sizeof *state);
    if (state == NULL) return NULL;
    plait_lock();
    state->next = all;
    all = state;
    plait_unlock();
  }
  state->fresh = 1;
  state->sampled = 0;
  state->cpu = -1;
  state->thread = (uint32_t)plait_thread_id();
  (void)pthread_setspecific(ending, state);
  plait_local.state = state;
  return state;
}

struct plait_thread* plait_thread_state(void) {
  if (plait_live->generation == 0) plait_events_forked(); /* the fork was not reported */
  struct plait_thread* state = plait_local.state;
  if (state == NULL) state = adopt();
  if (state == NULL || !plait_events_active()) return NULL;
  if (state->generation != plait_live->generation) { /* its chunk belongs to an earlier recording */
    plait_file_release(&state->mapping);
    state->reserved = (struct plait_reservation){0, 0, 0};
    state->next_size = 0;
    state->thread = (uint32_t)plait_thread_id(); /* it differs in the child of a fork */
    state->generation = plait_live->generation;
  }
  return state;
}

void plait_threads_discard(void) {
  /* No lock is needed: the child of a fork begins with a single thread. */
  idle = NULL;
  for (struct plait_thread* state = all; state != NULL; state = state->next) {
    plait_file_release(&state->mapping);
    state->generation = 0;
    if (state == plait_local.state) continue;
    state->next_idle = idle; /* its thread is not in this process */
    idle = state;
  }
}
