/*
 * Makes the C library's own functions jump to ours.
 *
 * Streams, and functions such as getpwnam that read files, call read, open and the like inside the C library, where no
 * preloaded name reaches.  So the first bytes of those functions are replaced by a jump.  Ours make the system call
 * themselves: nothing of what was replaced is needed.  Done once, while the process has one thread; the pages are
 * never writable.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/capture/capture.h"
#include "trace/capture/threads.h"

ssize_t capture_read_nocancel(int fd, void* data, size_t size);
ssize_t capture_write_nocancel(int fd, const void* data, size_t size);
ssize_t capture_pread64_nocancel(int fd, void* data, size_t size, off64_t offset);
int capture_open64_nocancel(const char* path, int flags, ...);
int capture_openat64_nocancel(int directory, const char* path, int flags, ...);
int capture_close_nocancel(int fd);
int capture_fcntl64_nocancel(int fd, int command, ...);

#if defined(__x86_64__)
enum { JUMP = 18, TARGET = 10 };
static const unsigned char jump[TARGET] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0};  // endbr64; jmp *0(%rip)
#else
enum { JUMP = 20, TARGET = 12 };
// bti c; ldr x17, .+8; br x17
static const unsigned char jump[TARGET] = {0x5f, 0x24, 0x03, 0xd5, 0x51, 0x00, 0x00, 0x58, 0x20, 0x02, 0x1f, 0xd6};
#endif

struct replacement {
  const char* name;
  void* ours;
};
int close_range(unsigned first, unsigned last, int flags);  // glibc declares it from 2.34 on
#define SAME(NAME) {#NAME, (void*)&NAME}
static const struct replacement replacements[] = {
    SAME(read),
    SAME(write),
    SAME(pread64),
    SAME(pwrite64),
    SAME(readv),
    SAME(writev),
    SAME(preadv64),
    SAME(pwritev64),
    SAME(preadv64v2),
    SAME(pwritev64v2),
    SAME(open64),
    SAME(openat64),
    SAME(creat64),
    SAME(close),
    SAME(close_range),
    SAME(dup),
    SAME(dup2),
    SAME(dup3),
    SAME(fcntl64),
    SAME(lseek64),
    SAME(ftruncate64),
    SAME(truncate64),
    SAME(fallocate64),
    SAME(fsync),
    SAME(fdatasync),
    SAME(sync_file_range),
    SAME(sendfile64),
    SAME(copy_file_range),
    SAME(splice),
    SAME(tee),
    SAME(mmap64),
    SAME(munmap),
    SAME(msync),
    SAME(execve),
    SAME(execveat),
    SAME(fexecve),
    SAME(_exit),
    SAME(vfork),
    SAME(syscall),
    SAME(wait4),
    SAME(waitid),
    SAME(waitpid),
    SAME(wait),
    SAME(wait3),
    {"__read_nocancel", (void*)&capture_read_nocancel},
    {"__write_nocancel", (void*)&capture_write_nocancel},
    {"__pread64_nocancel", (void*)&capture_pread64_nocancel},
    {"__open64_nocancel", (void*)&capture_open64_nocancel},
    {"__openat64_nocancel", (void*)&capture_openat64_nocancel},
    {"__close_nocancel", (void*)&capture_close_nocancel},
    {"__fcntl64_nocancel", (void*)&capture_fcntl64_nocancel},
};
enum { COUNT = sizeof replacements / sizeof *replacements };

// Through /proc/self/mem: the pages stay executable throughout, and a system that does not let code be changed refuses.
// returns  whether it was written.
static bool write_jump(long memory, const unsigned char* function, const void* target) {
  unsigned char code[JUMP];
  const uintptr_t address = (uintptr_t)target;
  memcpy(code, jump, TARGET);
  memcpy(code + TARGET, &address, sizeof address);
  const long written = RAW4(SYS_pwrite64, memory, code, JUMP, function);
  if (written >= 0) account_write(written);
  return written == JUMP;
}

bool patch_libc(void) {
  unsigned char* functions[COUNT];
  uintptr_t first = UINTPTR_MAX;
  uintptr_t last = 0;
  bool all = true;
  if (!has_one_thread()) return false;
  for (int i = 0; i < COUNT; ++i) {
    size_t size = 0;
    functions[i] = libc_function(replacements[i].name, &size);
    if (functions[i] == NULL || size < JUMP || !text_has(&capture_libc_text, (uintptr_t)functions[i])) {
      functions[i] = NULL;
      all = false;
      continue;
    }
    const uintptr_t address = (uintptr_t)functions[i];
    if (address < first) first = address;
    if (address + JUMP > last) last = address + JUMP;
  }
  if (last == 0) return false;
  const long memory = RAW4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
  if (memory < 0) return false;
  uint64_t blocked = ~UINT64_C(0);
  uint64_t before = 0;
  RAW4(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, &before, sizeof blocked);
  for (int i = 0; i < COUNT; ++i)
    if (functions[i] != NULL) all = write_jump(memory, functions[i], replacements[i].ours) && all;
  __builtin___clear_cache((char*)first, (char*)last);
  RAW4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
  RAW1(SYS_close, memory);
  return all;
}
