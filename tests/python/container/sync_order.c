/* A library for LD_PRELOAD that records the calls of fsync, syncfs and rename in their order. It appends one line per
   file to the file that SYNC_ORDER names. It runs the shell command in FIRST_SYNC before the first fsync. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void log_call(const char* function, const char* path) {
  const char* name = getenv("SYNC_ORDER");
  FILE* out = name ? fopen(name, "a") : NULL;
  if (out == NULL) return;
  fprintf(out, "%s %s\n", function, path);
  fclose(out);
}

static void log_descriptor(const char* function, int file) {
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, path, sizeof path - 1) > 0) log_call(function, path);
}

int fsync(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  const char* command = getenv("FIRST_SYNC");
  if (command != NULL) {
    unsetenv("LD_PRELOAD");
    unsetenv("FIRST_SYNC");
    if (system(command) != 0) abort();
  }
  log_descriptor("sync", file);
  return real(file);
}

int syncfs(int file) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "syncfs");
  log_descriptor("syncfs", file);
  return real(file);
}

int rename(const char* from, const char* to) {
  int (*real)(const char*, const char*) = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
  log_call("rename", from);
  log_call("to", to);
  return real(from, to);
}
