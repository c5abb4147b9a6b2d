/*
 * Calls of the libraries that are loaded after this one and replace the same functions of the C library.
 *
 * LD_PRELOAD="plait:other" makes a program's open() ours and leaves other's unused, unless ours calls it. So a call
 * by its name is recorded and then made by the next library's function of that name, which sees the same as in an
 * unrecorded program. With "other:plait" the other library is called first, and ours comes next.
 *
 * A function of the C library leads here too (code/patch.c). The chain has ended there, so these calls are made as
 * system calls. While the next library processes a recorded call, its own requests are recorded as physical requests
 * of that call. Example: a library stores its files below /tmp/store. Its `open("/mount/a")` is a logical open of
 * /mount/a and a physical one of /tmp/store/a, and a read is counted once on each level.
 */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/events/frame.h"
#include "trace/capture/raw.h"

/* The replaced functions: those that return an int, and those that return a word. */
// clang-format off
#define CHAIN_INTS(X) \
  X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) X(__open_2) X(__open64_2) X(__openat_2) \
  X(__openat64_2) X(close) X(close_range) X(dup) X(dup2) X(dup3) X(fcntl) X(fcntl64) X(ftruncate) X(ftruncate64) \
  X(truncate) X(truncate64) X(fallocate) X(fallocate64) X(fsync) X(fdatasync) X(sync_file_range) X(munmap) X(msync) \
  X(io_submit) X(io_getevents) X(io_pgetevents) X(io_destroy) X(io_queue_release) X(execve) X(execveat) X(fexecve) \
  X(execv) X(prctl) X(wait) X(wait3) X(wait4) X(waitid) X(waitpid) X(_exit) X(_Exit) X(vfork)
#define CHAIN_WORDS(X) \
  X(read) X(write) X(pread) X(pread64) X(pwrite) X(pwrite64) X(readv) X(writev) X(preadv) X(preadv64) X(pwritev) \
  X(pwritev64) X(preadv2) X(preadv64v2) X(pwritev2) X(pwritev64v2) X(__read_chk) X(__pread_chk) X(__pread64_chk) \
  X(lseek) X(lseek64) X(sendfile) X(sendfile64) X(copy_file_range) X(splice) X(tee) X(mmap) X(mmap64) X(syscall)
// clang-format on

#define CHAIN_NUMBER(NAME) CHAIN_##NAME,
enum next_function {
  CHAIN_NONE = 0, /* no library comes next: the call goes to the kernel */
  CHAIN_INTS(CHAIN_NUMBER) CHAIN_LAST_INT,
  CHAIN_WORDS(CHAIN_NUMBER) CHAIN_COUNT
};
#undef CHAIN_NUMBER

/* The next function of each name; NULL: there is none. Unknown before the first call. */
extern _Atomic(void*) capture_chain[CHAIN_COUNT];
/* Searches for the next functions if that has not been done.  returns  `name` if it has a next function, else
 * CHAIN_NONE. */
enum next_function chain_resolve(enum next_function name, uintptr_t caller);

/* Returns the next function of a call by its name.  cost: one load if there is none. */
static inline __attribute__((always_inline)) enum next_function chain_next(enum next_function name, uintptr_t caller) {
  if (__builtin_expect(atomic_load_explicit(&capture_chain[name], memory_order_relaxed) == NULL, 1)) return CHAIN_NONE;
  return chain_resolve(name, caller);
}
#define NEXT(NAME) chain_next(CHAIN_##NAME, (uintptr_t)__builtin_return_address(0))

/* Returns the next library's function of any name; NULL: there is none.  cost: a search of all libraries. */
void* chain_function(const char* name);

/* One call of the next library's function and its result. The record uses the kernel's form, in which -7 means E2BIG.
 * The program gets exactly the value that the function returned, which may be -7, or -1 with an errno of 0. It is
 * stored in the frame of the exported function, where no signal handler that makes such calls overwrites it. */
struct next_call {
  enum next_function function;
  int error; /* errno as the function left it */
  long value;
};
#define CHAIN_END ((struct next_call*)NULL) /* the call is made as a system call */

/* Calls the next library's function.  returns  the result in the kernel's form: a value, or -errno. operation: the
 * operation of the recorded call, for the physical requests below it. */
long chain_call(struct next_call* next, uint64_t operation, const long argument[6]);
/* Calls the next library's function without a record of the call: the next library will call the C library, where the
 * call is recorded.  returns  the function's result. */
long chain_forward(const struct next_call* next, const long argument[6]);
/* Returns the result of an exported function in the C library's form, and sets errno. `result` is that of chain_call,
 * or of a system call if there is no next library. */
static inline long library_result(const struct next_call* next, long result) {
  if (__builtin_expect(next == CHAIN_END, 1)) return c_result(result);
  errno = next->error;
  return next->value;
}
/* The arguments of chain_call and chain_forward. */
#define ARGUMENTS(...) ((const long[6]){__VA_ARGS__})

/* The frame of a chain_call that runs in this thread, and its operation. */
extern __thread uintptr_t capture_chain_frame __attribute__((tls_model("initial-exec")));
extern __thread uint64_t capture_chain_operation __attribute__((tls_model("initial-exec")));

/* True if the next library processes a recorded call of this thread, unless a signal handler jumped out of it. */
static inline bool chain_inside(void) {
  return __builtin_expect(capture_chain_frame != 0, 0) && !plait_frame_gone(capture_chain_frame, PLAIT_FRAME());
}

/* Define a replaced function: CHAINED for calls by its name, PATCHED for jumps from the C library's own function, BOTH
 * for both. In the body, `next` is the next library's function, or CHAIN_END. */
#define CHAINED(TYPE, NAME, PARAMETERS, ...)                                        \
  EXPORT TYPE NAME PARAMETERS {                                                     \
    struct next_call call = {.function = NEXT(NAME)};                               \
    struct next_call* const next = call.function == CHAIN_NONE ? CHAIN_END : &call; \
    __VA_ARGS__                                                                     \
  }
#define PATCHED(TYPE, NAME, PARAMETERS, ...)                             \
  __attribute__((visibility("hidden"))) TYPE patched_##NAME PARAMETERS { \
    struct next_call* const next = CHAIN_END;                            \
    __VA_ARGS__                                                          \
  }
#define BOTH(TYPE, NAME, PARAMETERS, ...)      \
  TYPE patched_##NAME PARAMETERS;              \
  CHAINED(TYPE, NAME, PARAMETERS, __VA_ARGS__) \
  PATCHED(TYPE, NAME, PARAMETERS, __VA_ARGS__)
