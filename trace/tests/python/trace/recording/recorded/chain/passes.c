/* A library that is preloaded together with the recorder and passes on every call unchanged. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PASS(TYPE, NAME, PARAMETERS, ARGUMENTS)          \
  TYPE NAME PARAMETERS {                                 \
    static TYPE(*next) PARAMETERS;                       \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, #NAME); \
    return next ARGUMENTS;                               \
  }
#define PASS_64(TYPE, NAME, PARAMETERS, ARGUMENTS) \
  PASS(TYPE, NAME, PARAMETERS, ARGUMENTS)          \
  PASS(TYPE, NAME##64, PARAMETERS, ARGUMENTS)
#define PASS_MODE(NAME, PARAMETERS, ...)                 \
  int NAME PARAMETERS {                                  \
    static int(*next) PARAMETERS;                        \
    if (!next) *(void**)&next = dlsym(RTLD_NEXT, #NAME); \
    va_list list;                                        \
    va_start(list, last);                                \
    const long more = va_arg(list, long);                \
    va_end(list);                                        \
    return next(__VA_ARGS__, last, more);                \
  }

PASS_MODE(open, (const char* path, int last, ...), path)
PASS_MODE(open64, (const char* path, int last, ...), path)
PASS_MODE(openat, (int directory, const char* path, int last, ...), directory, path)
PASS_MODE(openat64, (int directory, const char* path, int last, ...), directory, path)
PASS_MODE(fcntl, (int fd, int last, ...), fd)
PASS_MODE(fcntl64, (int fd, int last, ...), fd)
PASS_64(int, creat, (const char* path, mode_t mode), (path, mode))
PASS(int, close, (int fd), (fd))
PASS(int, dup, (int fd), (fd))
PASS(int, dup2, (int from, int to), (from, to))
PASS(int, dup3, (int from, int to, int flags), (from, to, flags))
PASS_64(int, ftruncate, (int fd, off_t size), (fd, size))
PASS_64(int, truncate, (const char* path, off_t size), (path, size))
PASS_64(int, fallocate, (int fd, int mode, off_t offset, off_t length), (fd, mode, offset, length))
PASS(int, fsync, (int fd), (fd))
PASS(int, fdatasync, (int fd), (fd))
PASS(int, sync_file_range, (int fd, off_t offset, off_t length, unsigned flags), (fd, offset, length, flags))
PASS(int, munmap, (void* address, size_t size), (address, size))
PASS(int, msync, (void* address, size_t size, int flags), (address, size, flags))
PASS(ssize_t, read, (int fd, void* data, size_t size), (fd, data, size))
PASS(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size))
PASS_64(ssize_t, pread, (int fd, void* data, size_t size, off_t offset), (fd, data, size, offset))
PASS_64(ssize_t, pwrite, (int fd, const void* data, size_t size, off_t offset), (fd, data, size, offset))
PASS(ssize_t, readv, (int fd, const struct iovec* parts, int count), (fd, parts, count))
PASS(ssize_t, writev, (int fd, const struct iovec* parts, int count), (fd, parts, count))
PASS_64(ssize_t, preadv, (int fd, const struct iovec* parts, int count, off_t offset), (fd, parts, count, offset))
PASS_64(ssize_t, pwritev, (int fd, const struct iovec* parts, int count, off_t offset), (fd, parts, count, offset))
#define FLAGGED (int fd, const struct iovec* parts, int count, off_t offset, int flags)
PASS(ssize_t, preadv2, FLAGGED, (fd, parts, count, offset, flags))
PASS(ssize_t, pwritev2, FLAGGED, (fd, parts, count, offset, flags))
PASS(ssize_t, preadv64v2, FLAGGED, (fd, parts, count, offset, flags))
PASS(ssize_t, pwritev64v2, FLAGGED, (fd, parts, count, offset, flags))
PASS_64(off_t, lseek, (int fd, off_t offset, int whence), (fd, offset, whence))
PASS_64(ssize_t, sendfile, (int to, int from, off_t* offset, size_t size), (to, from, offset, size))
#define BETWEEN (int from, off_t* from_offset, int to, off_t* to_offset, size_t size, unsigned flags)
PASS(ssize_t, copy_file_range, BETWEEN, (from, from_offset, to, to_offset, size, flags))
PASS(ssize_t, splice, BETWEEN, (from, from_offset, to, to_offset, size, flags))
PASS(ssize_t, tee, (int from, int to, size_t size, unsigned flags), (from, to, size, flags))
#define MAPPED (void* address, size_t size, int protection, int flags, int fd, off_t offset)
PASS_64(void*, mmap, MAPPED, (address, size, protection, flags, fd, offset))
PASS(pid_t, fork, (void), ())
PASS(pid_t, wait, (int* status), (status))
PASS(pid_t, waitpid, (pid_t id, int* status, int options), (id, status, options))
PASS(pid_t, wait4, (pid_t id, int* status, int options, struct rusage* usage), (id, status, options, usage))
PASS(int, waitid, (idtype_t kind, id_t id, siginfo_t* about, int options), (kind, id, about, options))
PASS(int, execve, (const char* path, char* const words[], char* const environment[]), (path, words, environment))
PASS(int, execv, (const char* path, char* const words[]), (path, words))
PASS(int, fexecve, (int fd, char* const words[], char* const environment[]), (fd, words, environment))

long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "syscall");
  long words[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) words[i] = va_arg(list, long);
  va_end(list);
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

void _exit(int status) {
  ((void (*)(int))dlsym(RTLD_NEXT, "_exit"))(status);
  for (;;) continue;
}
