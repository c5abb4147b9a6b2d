/*
 * The time of events: CLOCK_MONOTONIC, read as cheaply as the machine allows.
 *
 * Problem: a recorded call is timed twice, and two calls of clock_gettime would be most of the cost of recording.
 *
 * Idea: if the kernel itself keeps time by the processor's counter (x86-64, clock source "tsc"), each thread asks the
 * kernel once a millisecond and computes times in between from the counter, with a rate measured in this process.
 * Times equal CLOCK_MONOTONIC within a few tens of ns, in all processes and threads.
 *
 * Example: a counter of 2 GHz has a rate of 0.5 ns a count, stored as 0.5 * 2^32 = 2^31. 10,000 counts after a moment
 * at which the time was T, the time is T + (10,000 * 2^31 >> 32) = T + 5,000 ns.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(hidden)

/* The clock of a thread: the time at one moment, and the rate from there. */
struct plait_clock {
  uint64_t counter; /* value at that moment */
  uint64_t window;  /* counts for which the rate is valid from then on; 0: ask the kernel */
  uint64_t rate;    /* ns a count, times 2^32 */
  int64_t time;
  int64_t min_time; /* lower bound of returned times: a thread's clock never runs backwards */
  int busy;         /* set while the fields above are written: a signal handler may interrupt */
};
extern __thread struct plait_clock plait_clock __attribute__((tls_model("initial-exec")));

/* Asks the kernel for the time, and restarts the thread's clock from it. */
int64_t plait_clock_ask(void);
/* Determines if the counter is reliable; called once a process, before the first event. */
void plait_clock_begin(void);

#if defined(__x86_64__)
static inline uint64_t plait_clock_counter(void) { return __builtin_ia32_rdtsc(); }
#else
static inline uint64_t plait_clock_counter(void) { return 0; }
#endif

/* Returns ns of CLOCK_MONOTONIC. */
static inline int64_t plait_clock_now(void) {
#if defined(__x86_64__)
  const struct plait_clock* clock = &plait_clock;
  const uint64_t begin = clock->counter;
  const uint64_t window = clock->window;
  /* An unreliable counter is never read: a program may have made this an error (PR_SET_TSC). */
  if (__builtin_expect(window == 0, 0)) return plait_clock_ask();
  const uint64_t passed = plait_clock_counter() - begin;
  if (__builtin_expect(passed < window, 1)) {
    const int64_t time = clock->time + (int64_t)(passed * clock->rate >> 32);
    const int64_t min_time = clock->min_time;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* If the counter differs, a signal handler has restarted the clock in between. */
    if (__builtin_expect(clock->counter == begin, 1)) return time > min_time ? time : min_time;
  }
#endif
  return plait_clock_ask();
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
