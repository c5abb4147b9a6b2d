/* A library that is preloaded together with the recorder.  With REDIRECT it redirects paths below /chained/ to the
 * folder CHAINED_TO, like a file system in user space.  Otherwise it counts reads, writes and opens, and writes the
 * counts to the file CHAINED_TO at the end of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* next_function(const char* name) { return dlsym(RTLD_NEXT, name); }

static int counts[3];

static const char* redirected(const char* path, char* buffer, size_t bytes) {
#ifdef REDIRECT
  const char* target = getenv("CHAINED_TO");
  if (target == NULL || strncmp(path, "/chained/", 9) != 0) return path;
  snprintf(buffer, bytes, "%s/%s", target, path + 9);
  return buffer;
#else
  (void)buffer;
  (void)bytes;
  return path;
#endif
}

#define OPEN(NAME)                                                                                                \
  int NAME(const char* path, int flags, ...) {                                                                    \
    va_list list;                                                                                                 \
    va_start(list, flags);                                                                                        \
    const int mode = va_arg(list, int);                                                                           \
    va_end(list);                                                                                                 \
    char buffer[4096];                                                                                            \
    __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);                                                          \
    return ((int (*)(const char*, int, ...))next_function(#NAME))(redirected(path, buffer, sizeof buffer), flags, \
                                                                  mode);                                          \
  }
OPEN(open)
OPEN(open64)

int openat(int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = va_arg(list, int);
  va_end(list);
  char buffer[4096];
  __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
  return ((int (*)(int, const char*, int, ...))next_function("openat"))(
      directory, redirected(path, buffer, sizeof buffer), flags, mode);
}

ssize_t read(int fd, void* data, size_t size) {
  __atomic_fetch_add(&counts[1], 1, __ATOMIC_RELAXED);
  return ((ssize_t (*)(int, void*, size_t))next_function("read"))(fd, data, size);
}

ssize_t write(int fd, const void* data, size_t size) {
  __atomic_fetch_add(&counts[2], 1, __ATOMIC_RELAXED);
  return ((ssize_t (*)(int, const void*, size_t))next_function("write"))(fd, data, size);
}

#ifndef REDIRECT
__attribute__((destructor)) static void write_counts(void) {
  const char* target = getenv("CHAINED_TO");
  FILE* file = target == NULL ? NULL : fopen(target, "a");
  if (file == NULL) return;
  fprintf(file, "%d %d %d\n", counts[0], counts[1], counts[2]);
  fclose(file);
}
#endif
