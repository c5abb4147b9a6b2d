/* System calls that a program makes by their numbers, through the function syscall (entries.S). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "trace/capture/calls.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

// What `syscall` (entries.S) does with each number. 0: it only makes the call. 1: it calls capture_syscall(). 2: the
// call may pass descriptors to other processes, so `syscall` increments capture_forks before it.
__attribute__((used, visibility("hidden"))) const unsigned char capture_numbers[512] = {
    [SYS_read] = 1,
    [SYS_write] = 1,
    [SYS_pread64] = 1,
    [SYS_pwrite64] = 1,
    [SYS_readv] = 1,
    [SYS_writev] = 1,
    [SYS_preadv] = 1,
    [SYS_pwritev] = 1,
    [SYS_preadv2] = 1,
    [SYS_pwritev2] = 1,
    [SYS_openat] = 1,
    [SYS_close] = 1,
    [SYS_close_range] = 1,
    [SYS_dup] = 1,
    [SYS_dup3] = 1,
    [SYS_fcntl] = 1,
    [SYS_lseek] = 1,
    [SYS_ftruncate] = 1,
    [SYS_truncate] = 1,
    [SYS_fallocate] = 1,
    [SYS_fsync] = 1,
    [SYS_fdatasync] = 1,
    [SYS_sync_file_range] = 1,
    [SYS_sendfile] = 1,
    [SYS_copy_file_range] = 1,
    [SYS_splice] = 1,
    [SYS_tee] = 1,
    [SYS_mmap] = 1,
    [SYS_munmap] = 1,
    [SYS_msync] = 1,
    [SYS_execve] = 1,
    [SYS_execveat] = 1,
    [SYS_exit_group] = 1,
    [SYS_io_submit] = 1,
    [SYS_io_getevents] = 1,
    [SYS_io_pgetevents] = 1,
    [SYS_io_destroy] = 1,
    [SYS_io_uring_setup] = 1,
    [SYS_io_uring_enter] = 1,
    [SYS_io_uring_register] = 1,
    [SYS_wait4] = 1,
    [SYS_waitid] = 1,
    [SYS_clone] = 2,
#ifdef SYS_clone3
    [SYS_clone3] = 2,
#endif
    [SYS_sendmsg] = 2,
    [SYS_sendmmsg] = 2,
    [SYS_prctl] = 1,
    [SYS_seccomp] = 1,
#ifdef SYS_open
    [SYS_fork] = 2,
    [SYS_vfork] = 2,
    [SYS_open] = 1,
    [SYS_creat] = 1,
    [SYS_dup2] = 1,
#endif
};

// Make a call of each kind from the arguments of its system call, and record it.
static long transfer_at_position(long number, int kind, int fd, long address, long size, uintptr_t caller) {
  const struct request request = {.number = number,
                                  .fd = fd,
                                  .data = address,
                                  .size = size,
                                  .kind = kind,
                                  .offset = -1,
                                  .at_position = true,
                                  .vector = number == SYS_readv || number == SYS_writev};
  return capture_transfer(&request, caller);
}

static long transfer_at(long number, int kind, int fd, long address, long size, long offset, long flags, bool vector,
                        uintptr_t caller) {
  const bool at_position = flags >= 0 && offset == -1;
  const struct request request = {.number = number,
                                  .fd = fd,
                                  .data = address,
                                  .size = size,
                                  .third = offset,
                                  .fifth = flags >= 0 ? flags : 0,
                                  .kind = kind,
                                  .offset = at_position ? -1 : offset,
                                  .at_position = at_position,
                                  .vector = vector};
  return capture_transfer(&request, caller);
}

static long change_file(long number, int fd, long first, long second, long third, int kind, int64_t offset,
                        int64_t length, uintptr_t caller) {
  const struct change change = {.number = number,
                                .fd = fd,
                                .first = first,
                                .second = second,
                                .third = third,
                                .kind = kind,
                                .offset = offset,
                                .length = length};
  return capture_change(change, caller);
}

static long copy_between_files(long number, long a, long b, long c, long d, long e, long f, uintptr_t caller) {
  struct copy_call copying = capture_parse_copying(number, (long[6]){a, b, c, d, e, f});
  return capture_copy(&copying, caller);
}

enum { READ = PLAIT_EVENT_READ, WRITE = PLAIT_EVENT_WRITE, SYNC = PLAIT_EVENT_SYNC };

// Records a system call by its number. a to f are its arguments, in the order of the kernel.
static long dispatch(long number, long a, long b, long c, long d, long e, long f, uintptr_t caller) {
  const int fd = (int)a;
  switch (number) {
    case SYS_read:
    case SYS_readv: return transfer_at_position(number, READ, fd, b, c, caller);
    case SYS_write:
    case SYS_writev: return transfer_at_position(number, WRITE, fd, b, c, caller);
    case SYS_pread64:
    case SYS_preadv: return transfer_at(number, READ, fd, b, c, d, -1, number == SYS_preadv, caller);
    case SYS_pwrite64:
    case SYS_pwritev: return transfer_at(number, WRITE, fd, b, c, d, -1, number == SYS_pwritev, caller);
    case SYS_preadv2: return transfer_at(number, READ, fd, b, c, d, f, true, caller);
    case SYS_pwritev2: return transfer_at(number, WRITE, fd, b, c, d, f, true, caller);
    case SYS_openat: return capture_openat(fd, (const char*)b, (int)c, (unsigned)d, caller);
    case SYS_close: return capture_close(fd, caller);
    case SYS_close_range: return capture_close_range((unsigned)a, (unsigned)b, (int)c, CHAIN_END, caller);
    case SYS_dup: return capture_duplicate(number, fd, 0, 0, caller);
    case SYS_dup3: return capture_duplicate(number, fd, (int)b, (int)c, caller);
#ifdef SYS_open
    case SYS_open: return capture_openat(AT_FDCWD, (const char*)a, (int)b, (unsigned)c, caller);
    case SYS_creat: return capture_openat(AT_FDCWD, (const char*)a, O_CREAT | O_WRONLY | O_TRUNC, (unsigned)b, caller);
    case SYS_dup2: return capture_duplicate(number, fd, (int)b, 0, caller);
#endif
    case SYS_fcntl: return capture_control(fd, (int)b, c, caller, false);
    case SYS_lseek: return capture_seek(fd, b, (int)c, caller);
    case SYS_ftruncate: return change_file(number, fd, b, 0, 0, PLAIT_EVENT_TRUNCATE, b, 0, caller);
    case SYS_truncate: return capture_truncate((const char*)a, b, CHAIN_END, caller);
    case SYS_fallocate: return change_file(number, fd, b, c, d, PLAIT_EVENT_METADATA, c, d, caller);
    case SYS_fsync:
    case SYS_fdatasync: return change_file(number, fd, 0, 0, 0, SYNC, -1, 0, caller);
    case SYS_sync_file_range: return change_file(number, fd, b, c, d, SYNC, b, c, caller);
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_splice:
    case SYS_tee: return copy_between_files(number, a, b, c, d, e, f, caller);
    case SYS_mmap: return capture_mmap((void*)a, (size_t)b, (int)c, (int)d, (int)e, f, caller);
    case SYS_munmap: return capture_munmap((void*)a, (size_t)b, CHAIN_END, caller);
    case SYS_msync: return capture_msync((void*)a, (size_t)b, (int)c, caller);
    case SYS_execve: return capture_execveat(AT_FDCWD, (const char*)a, (char* const*)b, (char* const*)c, 0);
    case SYS_execveat: return capture_execveat(fd, (const char*)b, (char* const*)c, (char* const*)d, (int)e);
    case SYS_io_submit: return capture_io_submit((unsigned long)a, b, (void*)c, CHAIN_END);
    case SYS_io_getevents:
    case SYS_io_pgetevents: return capture_io_getevents(number, ARGUMENTS(a, b, c, d, e, f), CHAIN_END);
    case SYS_io_destroy: return capture_io_destroy((unsigned long)a, CHAIN_END);
    case SYS_io_uring_setup: return capture_uring_setup((unsigned)a, (void*)b, caller);
    case SYS_io_uring_enter: return capture_uring_enter(fd, (unsigned)b, (unsigned)c, (unsigned)d, (void*)e, (size_t)f);
    case SYS_io_uring_register: return capture_uring_register(fd, (unsigned)b, (void*)c, (unsigned)d);
    case SYS_wait4: return capture_wait4(fd, (int*)b, (int)c, (struct rusage*)d, false);
    case SYS_waitid: return capture_waitid(fd, (int)b, (siginfo_t*)c, (int)d, (struct rusage*)e, false);
    case SYS_prctl: return capture_control_process(a, b, c, d, e);
    case SYS_seccomp: return capture_seccomp(a, b, c);
    case SYS_exit_group: capture_end(); break;
    default: break;
  }
  return RAW6(number, a, b, c, d, e, f);
}

// Called by the function syscall (entries.S).
__attribute__((used, visibility("hidden"))) long capture_syscall(long number, long a, long b, long c, long d, long e,
                                                                 long f) {
  const uintptr_t caller = CALLER();
  if (text_has(&capture_own_text, caller)) {
    const long result = RAW6(number, a, b, c, d, e, f);
    if (number == SYS_read || number == SYS_pread64) account_read(result);
    if (number == SYS_write || number == SYS_pwrite64) account_write(result);
    return c_result(result);
  }
  return c_result(dispatch(number, a, b, c, d, e, f, caller));
}

// Called by entries.S for a system call that failed.
__attribute__((used, visibility("hidden"))) long capture_error(long result) {
  errno = (int)-result;
  return -1;
}
