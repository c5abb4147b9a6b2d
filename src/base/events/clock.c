/*
 * The rate of the processor's counter, and the clock of each thread.
 *
 * The rate is measured between two queries of the kernel, at first over 5 ms and later over 100 ms. Example: a query
 * is exact to 50 ns, so the first measurement is exact to 50 ns / 5 ms = 10 in a million. A window of 1 ms then
 * deviates by at most 10 ns, which is the accuracy of the times.
 *
 * At the end of a window the thread asks the kernel again. If the kernel's time is earlier than one that the thread has
 * already returned, the thread continues with its own, so that its clock never runs backwards.
 */
#define _GNU_SOURCE
#include "base/events/clock.h"

#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/events/internal.h"

__thread struct plait_clock plait_clock __attribute__((tls_model("initial-exec")));

static int64_t query_kernel(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#if defined(__x86_64__)

enum {
  WINDOW = 1000000,        /* ns between two queries */
  FIRST_STRETCH = 5000000, /* ns over which the rate is measured first: 50 ns more or less are 10 in a million */
  STRETCH = 100000000,     /* and later, because the system adjusts its rate */
  MAX_QUERY_COUNTS = 4096  /* counts; a longer query was interrupted */
};

/* The rate; 0: unknown, or the counter is not reliable. */
static uint64_t known_rate;
static int trusted;
/* The beginning of the current measurement. A thread that changes it sets `measuring`; other threads skip the
 * measurement and do not wait. */
static int measuring;
static uint64_t measured_counter;
static int64_t measured_time;

static int counter_keeps_time(void) {
  unsigned a;
  unsigned b;
  unsigned c;
  unsigned d;
  if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || (d & 0x100) == 0) return 0; /* not invariant: its rate changes */
  char source[16];
  const long bytes_read =
      plait_file_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source);
  return bytes_read == 4 && memcmp(source, "tsc\n", 4) == 0;
}

/* Measures the rate if the interval has passed. */
static void measure(uint64_t counter, int64_t time) {
  if (__atomic_exchange_n(&measuring, 1, __ATOMIC_ACQUIRE) != 0) return;
  const uint64_t before = known_rate;
  const int64_t passed = time - measured_time;
  if (measured_counter == 0) {
    measured_counter = counter;
    measured_time = time;
  } else if (passed >= (before == 0 ? FIRST_STRETCH : STRETCH)) {
    const uint64_t counts = counter - measured_counter;
    const double rate = (double)passed / (double)counts;
    /* Accepts counters of 10 MHz to 100 GHz; other rates are errors. */
    const uint64_t new_rate = rate > 0.01 && rate < 100 ? (uint64_t)(rate * 4294967296.0) : 0;
    const uint64_t difference = new_rate > before ? new_rate - before : before - new_rate;
    /* The system never adjusts its clock by a thousandth. A larger difference means that the counter has jumped, so
     * it is not used any more. */
    if (new_rate == 0 || (before != 0 && difference > before / 1000)) __atomic_store_n(&trusted, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&known_rate, new_rate, __ATOMIC_RELAXED);
    measured_counter = counter;
    measured_time = time;
  }
  __atomic_store_n(&measuring, 0, __ATOMIC_RELEASE);
}

int64_t plait_clock_ask(void) {
  struct plait_clock* clock = &plait_clock;
  if (!__atomic_load_n(&trusted, __ATOMIC_RELAXED) || clock->busy) return query_kernel();
  clock->busy = 1;
  /* A signal handler that interrupts this function from here on queries the kernel and changes nothing here. */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const uint64_t before = plait_clock_counter();
  int64_t time = query_kernel();
  const uint64_t query_counts = plait_clock_counter() - before;
  const uint64_t rate = __atomic_load_n(&known_rate, __ATOMIC_RELAXED);
  /* No time that the thread has already returned is later than that of its counter, or of the end of its window. */
  const uint64_t passed = before - clock->counter;
  const uint64_t valid_counts = passed < clock->window ? passed : clock->window;
  const int64_t bound = clock->time + (int64_t)(valid_counts * clock->rate >> 32);
  clock->window = 0; /* first: a handler that reads the clock meanwhile asks the kernel */
  clock->min_time = bound;
  if (query_counts <= MAX_QUERY_COUNTS) {
    measure(before + query_counts / 2, time);
    clock->counter = before + query_counts / 2;
    clock->rate = rate;
    clock->time = time;
    clock->window = rate == 0 ? 0 : (uint64_t)(WINDOW * 4294967296.0 / (double)rate);
  }
  if (bound > time) time = bound;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  clock->busy = 0;
  return time;
}

void plait_clock_begin(void) {
  if (__atomic_load_n(&known_rate, __ATOMIC_RELAXED) == 0 && !__atomic_load_n(&trusted, __ATOMIC_RELAXED))
    __atomic_store_n(&trusted, counter_keeps_time(), __ATOMIC_RELAXED);
}

#else

int64_t plait_clock_ask(void) { return query_kernel(); }
void plait_clock_begin(void) {}

#endif

int64_t plait_events_now(void) { return plait_clock_now(); }
