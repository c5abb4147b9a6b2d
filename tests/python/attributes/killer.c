/* A library for LD_PRELOAD that kills its process at call KILL_AT / 2 of those that change files, counted from 0 after
 * the file KILL_IF exists: before the call if KILL_AT is even, within it if KILL_AT is odd. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
static int calls;
/* Returns 0 if the process survives this call, 1 if it is killed before the call, 2 if within it. */
static int dies(void) {
  const char* armed = getenv("KILL_AT");
  if (!armed || access(getenv("KILL_IF"), F_OK) != 0) return 0;
  const int at = atoi(armed);
  const int call = calls++;
  return at == 2 * call ? 1 : at == 2 * call + 1 ? 2 : 0;
}
static void die(void) { kill(getpid(), SIGKILL); }
#define WRITE(NAME, OFFSET)                                                      \
  ssize_t NAME(int file, const void* bytes, size_t count, OFFSET at) {           \
    ssize_t (*next)(int, const void*, size_t, OFFSET) = dlsym(RTLD_NEXT, #NAME); \
    const int how = dies();                                                      \
    if (how == 2) next(file, bytes, (count + 1) / 2, at);                        \
    if (how) die();                                                              \
    return next(file, bytes, count, at);                                         \
  }
#define CUT(NAME, OFFSET)                               \
  int NAME(int file, OFFSET size) {                     \
    int (*next)(int, OFFSET) = dlsym(RTLD_NEXT, #NAME); \
    if (dies()) die();                                  \
    return next(file, size);                            \
  }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)
CUT(ftruncate, off_t)
CUT(ftruncate64, off64_t)
int fsync(int file) {
  int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
  if (dies()) die();
  return next(file);
}
int unlink(const char* path) {
  int (*next)(const char*) = dlsym(RTLD_NEXT, "unlink");
  if (dies()) die();
  return next(path);
}
