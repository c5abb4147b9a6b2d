/*
 * The calls that are recorded, as functions that know who called: what the C library's names and the numbers of
 * system calls both lead to.  Each returns what the kernel does: a value, or -errno.
 */
#pragma once

#include <signal.h>

#include "base/events/format.h"
#include "trace/capture/capture.h"

// One call: what the system is asked, and what an event says of it.
struct request {
  struct next_call* next;
  long number;  // of the system call, with its arguments
  int fd;
  long data, size, third, fourth, fifth;
  int kind;
  int64_t offset;  // where the call says; -1 with `at_position`: at the open's own
  bool at_position;
  bool vector;
  bool cancelled;   // whether the thread may be cancelled in it
  bool positioned;  // pread or pwrite that may be cancelled
};

long capture_transfer(const struct request* request, uintptr_t caller);
/* Copies what a pointer of the program's leads to, which may lead nowhere.  returns  whether it could be read.
 * cost: one system call. */
bool capture_peek(const void* from, void* to, size_t size);
/* Bytes in the parts of a vector.  trusted: the kernel has read it without fault; else it is peeked at. */
int64_t capture_vector_length(const struct iovec* parts, int64_t count, bool trusted);

/* One call on a file that moves no data. */
struct change {
  struct next_call* next;
  long number;
  int fd;
  long first, second, third;
  int kind;
  int64_t offset, length;
  bool cancelled;
};
long capture_change(struct change change, uintptr_t caller);
long capture_truncate(const char* path, int64_t size, struct next_call* next, uintptr_t caller);

// One side of a copy.
struct side {
  int fd;
  int64_t offset;  // given with the call; at_position: the open's own
  bool at_position;
  struct description* description;
  struct moving moving;
};

struct copying {
  struct next_call* next;
  long number;
  long a, b, c, d, e, f;  // as the kernel takes them
  struct side from, to;
  int64_t length;
  bool counted;  // in the kernel's sums
  bool cancelled;
};
/* What sendfile, copy_file_range, splice or tee copies, by the arguments that the kernel takes. */
struct copying capture_copying_of(long number, const long argument[6]);
long capture_copy(struct copying* copying, uintptr_t caller);

long capture_openat(int directory, const char* path, int flags, unsigned mode, uintptr_t caller);
long capture_close(int fd, uintptr_t caller);
long capture_close_range(unsigned first, unsigned last, int flags, struct next_call* next, uintptr_t caller);
long capture_duplicate(long number, int from, int to, int flags, uintptr_t caller);
/* may, here and below: the thread may be cancelled in it, as in the C library's function but not in syscall. */
long capture_control(int fd, int command, long argument, uintptr_t caller, bool may);
long capture_seek(int fd, int64_t offset, int whence, uintptr_t caller);
long capture_mmap(void* address, size_t size, int protection, int flags, int fd, int64_t offset, uintptr_t caller);
long capture_munmap(void* address, size_t size, struct next_call* next, uintptr_t caller);
long capture_msync(void* address, size_t size, int flags, uintptr_t caller);
long capture_execveat(int directory, const char* path, char* const* arguments, char* const* environment, int flags);

/* program.c: why a program records nothing; the letters stand in the trace (base/events/format.h). */
enum obstacle {
  OBSTACLE_NONE = 0,
  OBSTACLE_STATIC = PLAIT_UNRECORDED_STATIC,
  OBSTACLE_MACHINE = PLAIT_UNRECORDED_MACHINE,
  OBSTACLE_MUSL = PLAIT_UNRECORDED_MUSL,
  OBSTACLE_LOADER = PLAIT_UNRECORDED_LOADER,
  OBSTACLE_RIGHTS = PLAIT_UNRECORDED_RIGHTS,
  OBSTACLE_USER = PLAIT_UNRECORDED_USER,
  OBSTACLE_ASKED = PLAIT_UNRECORDED_ASKED
};
/* asked: the environment does not say that the program is not to be recorded.  cost: some system calls. */
enum obstacle program_obstacle(int directory, const char* path, int flags, bool asked);
/* Counts a program that is about to run unrecorded, and keeps its name; runs: false takes that back. */
void program_unrecorded(int directory, const char* path, enum obstacle why, bool runs);

struct rusage;
long capture_wait4(int id, int* status, int options, struct rusage* usage, bool may);
long capture_waitid(int kind, int id, siginfo_t* about, int options, struct rusage* usage, bool may);

/* process.c */
long capture_control_process(long option, long a, long b, long c, long d);
long capture_seccomp(long operation, long flags, long filter);
/* aio.c */
long capture_io_submit(unsigned long context, long count, void* requests, struct next_call* next);
/* argument: as the kernel takes them, or the function that comes next. */
long capture_io_getevents(long number, const long argument[6], struct next_call* next);
long capture_io_destroy(unsigned long context, struct next_call* next);
/* uring.c */
long capture_uring_setup(unsigned entries, void* parameters, uintptr_t caller);
long capture_uring_enter(int fd, unsigned submit, unsigned wait, unsigned flags, void* argument, size_t size);
long capture_uring_register(int fd, unsigned operation, void* argument, unsigned count);
