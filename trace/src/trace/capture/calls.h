/* Records calls. A program makes them by the C library's names or by the numbers of system calls; both lead to the
 * functions declared here. `caller` is the program's return address. Each function returns the kernel's result: a
 * value, or -errno. */
#pragma once

#include <signal.h>

#include "base/events/format.h"
#include "trace/capture/capture.h"

// A call that transfers data: its arguments, and the properties of its event.
struct request {
  struct next_call* next;  // CHAIN_END: the call is made as a system call
  long number;             // the system call, with its arguments
  int fd;
  long data, size, third, fourth, fifth;
  int kind;
  int64_t offset;  // offset of the call; -1 with `at_position`: the position of the open file
  bool at_position;
  bool vector;       // `data` is an array of struct iovec, and `size` its length
  bool cancellable;  // true if the thread may be cancelled in it
  bool positioned;   // true for pread and pwrite that may be cancelled
};

/* Makes a call that transfers data, and records it. */
long capture_transfer(const struct request* request, uintptr_t caller);
/* Copies from a pointer of the program, which may be invalid.  returns  true if the memory was readable. cost: one
 * system call. */
bool capture_peek(const void* from, void* to, size_t size);
/* Returns the sum of the lengths in a vector.  trusted: the kernel has read the vector without a fault; otherwise it
 * is read by capture_peek. */
int64_t capture_vector_length(const struct iovec* parts, int64_t count, bool trusted);

/* One call on a file that transfers no data. */
struct change {
  struct next_call* next;
  long number;
  int fd;
  long first, second, third;
  int kind;
  int64_t offset, length;
  bool cancellable;
};
/* Makes such a call, and records it. */
long capture_change(struct change change, uintptr_t caller);
long capture_truncate(const char* path, int64_t size, struct next_call* next, uintptr_t caller);

// One side of a copy.
struct side {
  int fd;
  int64_t offset;  // offset of the call; at_position: the position of the open file
  bool at_position;
  struct description* description;
  struct position_use position_use;
};

struct copy_call {
  struct next_call* next;
  long number;
  long a, b, c, d, e, f;  // arguments of the system call
  struct side from, to;
  int64_t length;
  bool is_counted_by_kernel;  // in /proc/self/io
  bool cancellable;
};
/* Describes a copy by sendfile, copy_file_range, splice or tee from the arguments of the system call. */
struct copy_call capture_parse_copying(long number, const long argument[6]);
long capture_copy(struct copy_call* copying, uintptr_t caller);

/* Make a call on a descriptor, a mapping or a program, and record it. */
long capture_openat(int directory, const char* path, int flags, unsigned mode, uintptr_t caller);
long capture_close(int fd, uintptr_t caller);
long capture_close_range(unsigned first, unsigned last, int flags, struct next_call* next, uintptr_t caller);
long capture_duplicate(long number, int from, int to, int flags, uintptr_t caller);
/* may_cancel, here and below: the thread may be cancelled in the call, as in the C library's function but not in
 * syscall(). */
long capture_control(int fd, int command, long argument, uintptr_t caller, bool may_cancel);
long capture_seek(int fd, int64_t offset, int whence, uintptr_t caller);
long capture_mmap(void* address, size_t size, int protection, int flags, int fd, int64_t offset, uintptr_t caller);
long capture_munmap(void* address, size_t size, struct next_call* next, uintptr_t caller);
long capture_msync(void* address, size_t size, int flags, uintptr_t caller);
long capture_execveat(int directory, const char* path, char* const* arguments, char* const* environment, int flags);

/* program.c: why a program is not recorded. The letters are stored in the trace (base/events/format.h). */
enum obstacle {
  OBSTACLE_NONE = 0,
  OBSTACLE_STATIC = PLAIT_UNRECORDED_STATIC,
  OBSTACLE_MACHINE = PLAIT_UNRECORDED_MACHINE,
  OBSTACLE_MUSL = PLAIT_UNRECORDED_MUSL,
  OBSTACLE_LOADER = PLAIT_UNRECORDED_LOADER,
  OBSTACLE_RIGHTS = PLAIT_UNRECORDED_RIGHTS,
  OBSTACLE_USER = PLAIT_UNRECORDED_USER,
  OBSTACLE_ASKED = PLAIT_UNRECORDED_ASKED /* the environment contains PLAIT_RECORD= without a value */
};
/* Returns why a program would not be recorded.  requested: false if the environment states that the program is not to
 * be recorded.  cost: some system calls. */
enum obstacle program_find_obstacle(int directory, const char* path, int flags, bool requested);
/* Counts a program that is about to run unrecorded, and records its name. runs: false undoes that, if exec failed. */
void program_count_unrecorded(int directory, const char* path, enum obstacle why, bool runs);

struct rusage;
/* Wait for a child, and first read the kernel's counters of it (account_subtract_child). */
long capture_wait4(int id, int* status, int options, struct rusage* usage, bool may_cancel);
long capture_waitid(int kind, int id, siginfo_t* about, int options, struct rusage* usage, bool may_cancel);

/* process.c: prctl and seccomp, before which recording may have to stop */
long capture_control_process(long option, long a, long b, long c, long d);
long capture_seccomp(long operation, long flags, long filter);
/* aio.c: submit and await asynchronous requests; each becomes an event when it has completed */
long capture_io_submit(unsigned long context, long count, void* requests, struct next_call* next);
/* argument: the arguments of the system call, or of the next library's function. */
long capture_io_getevents(long number, const long argument[6], struct next_call* next);
long capture_io_destroy(unsigned long context, struct next_call* next);
/* uring/calls.c: the calls of io_uring */
long capture_uring_setup(unsigned entries, void* parameters, uintptr_t caller);
long capture_uring_enter(int fd, unsigned submit, unsigned wait, unsigned flags, void* argument, size_t size);
long capture_uring_register(int fd, unsigned operation, void* argument, unsigned count);
