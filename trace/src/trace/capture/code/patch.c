/*
 * Makes the C library's own functions jump to those of this library.
 *
 * Problem: streams, and functions such as getpwnam that read files, call read, open and similar functions inside the
 * C library, which a preloaded name does not intercept.
 *
 * Idea: the first bytes of those functions are replaced by a jump. Our functions make the system call themselves, so
 * the replaced code is never needed. This is done once, while the process has one thread. The pages are never
 * writable: the bytes are written through /proc/self/mem.
 *
 * Example (x86-64): 10 bytes of code, endbr64 and an indirect jump through the following word, and then the 8 bytes
 * of our function's address: 18 bytes in all. A function whose code is shorter is not replaced.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "trace/capture/capture.h"
#include "trace/capture/threads.h"

#if defined(__x86_64__)
enum { JUMP_BYTES = 18, TARGET_OFFSET = 10 };
static const unsigned char jump[TARGET_OFFSET] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff,
                                                  0x25, 0,    0,    0,    0};  // endbr64; jmp *0(%rip)
#else
enum { JUMP_BYTES = 20, TARGET_OFFSET = 12 };
// bti c; ldr x17, .+8; br x17
static const unsigned char jump[TARGET_OFFSET] = {0x5f, 0x24, 0x03, 0xd5, 0x51, 0x00,
                                                  0x00, 0x58, 0x20, 0x02, 0x1f, 0xd6};
#endif

/* The C library's functions, and its internal variants without thread cancellation (__read_nocancel and so on). */
// clang-format off
#define PATCHED_FUNCTIONS(X) \
  X(read) X(write) X(pread64) X(pwrite64) X(readv) X(writev) X(preadv64) X(pwritev64) X(preadv64v2) X(pwritev64v2) \
  X(open64) X(openat64) X(creat64) X(close) X(close_range) X(dup) X(dup2) X(dup3) X(fcntl64) X(lseek64) \
  X(ftruncate64) X(truncate64) X(fallocate64) X(fsync) X(fdatasync) X(sync_file_range) X(sendfile64) \
  X(copy_file_range) X(splice) X(tee) X(mmap64) X(munmap) X(msync) X(execve) X(execveat) X(fexecve) X(_exit) \
  X(vfork) X(syscall) X(wait4) X(waitid) X(waitpid) X(wait) X(wait3)
#define PATCHED_PRIVATE(X) X(read) X(write) X(pread64) X(open64) X(openat64) X(close) X(fcntl64)
// clang-format on

// The recorder's functions.  Only their addresses are used; each is defined with its real type.
#define DECLARED(NAME) extern const char patched_##NAME[];
#define DECLARED_PRIVATE(NAME) extern const char patched_##NAME##_nocancel[];
PATCHED_FUNCTIONS(DECLARED)
PATCHED_PRIVATE(DECLARED_PRIVATE)

struct replacement {
  const char* name;
  const void* target;
};
#define SAME(NAME) {#NAME, patched_##NAME},
#define PRIVATE(NAME) {"__" #NAME "_nocancel", patched_##NAME##_nocancel},
static const struct replacement replacements[] = {PATCHED_FUNCTIONS(SAME) PATCHED_PRIVATE(PRIVATE)};
enum { COUNT = sizeof replacements / sizeof *replacements };

// Writes through /proc/self/mem: the pages stay executable throughout, and a system that forbids changes of code
// fails the write.
// returns  true if it was written.
static bool write_jump(long memory_fd, const unsigned char* function, const void* target) {
  unsigned char code[JUMP_BYTES];
  const uintptr_t address = (uintptr_t)target;
  memcpy(code, jump, TARGET_OFFSET);
  memcpy(code + TARGET_OFFSET, &address, sizeof address);
  const long written = RAW4(SYS_pwrite64, memory_fd, code, JUMP_BYTES, function);
  if (written >= 0) account_write(written);
  return written == JUMP_BYTES;
}

bool patch_libc(void) {
  unsigned char* functions[COUNT];
  uintptr_t first = UINTPTR_MAX;
  uintptr_t last = 0;
  bool are_all_replaced = true;
  if (!has_one_thread()) return false;
  for (int i = 0; i < COUNT; ++i) {
    size_t size = 0;
    functions[i] = libc_function(replacements[i].name, &size);
    if (functions[i] == NULL || size < JUMP_BYTES || !text_has(&capture_libc_text, (uintptr_t)functions[i])) {
      functions[i] = NULL;
      are_all_replaced = false;
      continue;
    }
    const uintptr_t address = (uintptr_t)functions[i];
    if (address < first) first = address;
    if (address + JUMP_BYTES > last) last = address + JUMP_BYTES;
  }
  if (last == 0) return false;
  const long memory_fd = RAW4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
  if (memory_fd < 0) return false;
  uint64_t blocked = ~UINT64_C(0);
  uint64_t before = 0;
  RAW4(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, &before, sizeof blocked);
  for (int i = 0; i < COUNT; ++i)
    if (functions[i] != NULL)
      are_all_replaced = write_jump(memory_fd, functions[i], replacements[i].target) && are_all_replaced;
  __builtin___clear_cache((char*)first, (char*)last);
  RAW4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
  RAW1(SYS_close, memory_fd);
  return are_all_replaced;
}
