/* Finds the functions of libraries that are loaded after this one, and calls them. See chain.h. */
#define _GNU_SOURCE
#include "trace/capture/chain.h"

#include <errno.h>
#include <string.h>

#include "trace/capture/capture.h"

#define UNKNOWN ((void*)1)

_Atomic(void*) capture_chain[CHAIN_COUNT] = {[0 ... CHAIN_COUNT - 1] = UNKNOWN};
__thread uintptr_t capture_chain_frame;
__thread uint64_t capture_chain_operation;

/* For entries.S, whose functions must not have a stack frame. */
__attribute__((used, visibility("hidden"))) void* capture_next_syscall;
__attribute__((used, visibility("hidden"))) void* capture_next_vfork;

#define CHAIN_NAME(NAME) [CHAIN_##NAME] = #NAME,
static const char* const names[CHAIN_COUNT] = {CHAIN_INTS(CHAIN_NAME) CHAIN_WORDS(CHAIN_NAME)};

// Finds all functions at once, when the program starts. Calls made meanwhile go to the kernel.
static void find_next_functions(void) {
  for (int i = 0; i < CHAIN_COUNT; ++i) atomic_store(&capture_chain[i], NULL);
  elf_find_texts();
  void* found[CHAIN_COUNT] = {NULL};
  elf_find_next(names, found, CHAIN_COUNT);
  capture_next_syscall = found[CHAIN_syscall];
  capture_next_vfork = found[CHAIN_vfork];
  for (int i = 0; i < CHAIN_COUNT; ++i) atomic_store(&capture_chain[i], found[i]);
}

enum next_function chain_resolve(enum next_function name, uintptr_t caller) {
  if (atomic_load(&capture_chain[name]) == UNKNOWN) find_next_functions();
  if (text_has(&capture_own_text, caller)) return CHAIN_NONE;
  return atomic_load(&capture_chain[name]) == NULL ? CHAIN_NONE : name;
}

void* chain_function(const char* name) {
  void* function = NULL;
  elf_find_next(&name, &function, 1);
  return function;
}

long chain_forward(const struct next_call* next, const long argument[6]) {
  // The function is called as a variadic one, which finds its arguments in the same registers as others on every
  // supported machine.
  long (*function)(long, ...) =
      (long (*)(long, ...))atomic_load_explicit(&capture_chain[next->function], memory_order_relaxed);
  const long result = function(argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
  return next->function < CHAIN_LAST_INT ? (int)result : result;
}

__attribute__((noinline)) long chain_call(struct next_call* next, uint64_t operation, const long argument[6]) {
  // Calls may be nested, so the state of the outer call is restored afterwards. The fences keep the compiler from
  // reordering stores that a signal handler in this thread may see.
  const uintptr_t frame = capture_chain_frame;
  const uint64_t outer = capture_chain_operation;
  capture_chain_operation = operation;
  atomic_signal_fence(memory_order_seq_cst);
  capture_chain_frame = PLAIT_FRAME();
  atomic_signal_fence(memory_order_seq_cst);
  next->value = chain_forward(next, argument);
  next->error = errno;
  atomic_signal_fence(memory_order_seq_cst);
  capture_chain_frame = frame;
  capture_chain_operation = outer;
  if (next->value != -1) return next->value;
  return next->error > 0 && next->error < 4096 ? -next->error : -EIO;
}
