/* A library for LD_PRELOAD that kills its process at a chosen system call.
 *
 * It counts the calls that change files from 0, beginning when the file that KILL_IF names exists. KILL_AT = 2 n kills
 * the process before call n, KILL_AT = 2 n + 1 within call n: a write has then written half of its bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
static int calls;
enum { SURVIVE, KILL_BEFORE, KILL_WITHIN };
/* Counts this call, and returns what happens to the process at it. */
static int count_call(void) {
  const char* kill_at = getenv("KILL_AT");
  if (!kill_at || access(getenv("KILL_IF"), F_OK) != 0) return SURVIVE;
  const int kill_point = atoi(kill_at);
  const int call = calls++;
  return kill_point == 2 * call ? KILL_BEFORE : kill_point == 2 * call + 1 ? KILL_WITHIN : SURVIVE;
}
static void kill_this_process(void) { kill(getpid(), SIGKILL); }
#define WRITE(NAME, OFFSET)                                                      \
  ssize_t NAME(int file, const void* bytes, size_t count, OFFSET offset) {       \
    ssize_t (*real)(int, const void*, size_t, OFFSET) = dlsym(RTLD_NEXT, #NAME); \
    const int fate = count_call();                                               \
    if (fate == KILL_WITHIN) real(file, bytes, (count + 1) / 2, offset);         \
    if (fate != SURVIVE) kill_this_process();                                    \
    return real(file, bytes, count, offset);                                     \
  }
#define TRUNCATE(NAME, OFFSET)                          \
  int NAME(int file, OFFSET size) {                     \
    int (*real)(int, OFFSET) = dlsym(RTLD_NEXT, #NAME); \
    if (count_call() != SURVIVE) kill_this_process();   \
    return real(file, size);                            \
  }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)
int fsync(int file) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  if (count_call() != SURVIVE) kill_this_process();
  return real(file);
}
int unlink(const char* path) {
  int (*real)(const char*) = dlsym(RTLD_NEXT, "unlink");
  if (count_call() != SURVIVE) kill_this_process();
  return real(path);
}
