/*
 * The time of events: CLOCK_MONOTONIC, read as cheaply as the machine allows.
 *
 * A call that is recorded is timed twice, and asking the C library takes most of what recording adds.  Where the kernel
 * itself keeps time by the processor's counter (x86-64, clock source "tsc"), that is read instead: each thread asks for
 * the time once a millisecond, and goes on from there by the counter, at the rate that was measured in this process.
 * So times are as CLOCK_MONOTONIC says, within some ten ns, in all processes and threads.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(hidden)

/* What a thread knows: the time at one moment, and how it goes on. */
struct plait_clock {
  uint64_t counter; /* at that moment */
  uint64_t window;  /* counts from then on for which this holds; 0: ask */
  uint64_t rate;    /* ns a count, times 2^32 */
  int64_t time;
  int64_t least; /* no time before this is told: it does not run backwards in a thread */
  int busy;      /* the above is being written, and a signal handler may come in */
};
extern __thread struct plait_clock plait_clock __attribute__((tls_model("initial-exec")));

/* Asks for the time, and begins anew from there. */
int64_t plait_clock_ask(void);
/* Whether the counter can be trusted; once a process, before the first event. */
void plait_clock_begin(void);

#if defined(__x86_64__)
static inline uint64_t plait_clock_counter(void) { return __builtin_ia32_rdtsc(); }
#else
static inline uint64_t plait_clock_counter(void) { return 0; }
#endif

/* ns of CLOCK_MONOTONIC. */
static inline int64_t plait_clock_now(void) {
#if defined(__x86_64__)
  const struct plait_clock* clock = &plait_clock;
  const uint64_t begin = clock->counter;
  const uint64_t window = clock->window;
  /* Nobody reads a counter that is not trusted: a program may have made that deadly (PR_SET_TSC). */
  if (__builtin_expect(window == 0, 0)) return plait_clock_ask();
  const uint64_t passed = plait_clock_counter() - begin;
  if (__builtin_expect(passed < window, 1)) {
    const int64_t time = clock->time + (int64_t)(passed * clock->rate >> 32);
    const int64_t least = clock->least;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* Else a signal handler has begun anew in between. */
    if (__builtin_expect(clock->counter == begin, 1)) return time > least ? time : least;
  }
#endif
  return plait_clock_ask();
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
