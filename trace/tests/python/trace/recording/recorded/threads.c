/* argv[1]: a file; argv[2]: number of threads, of which 8 run at a time; argv[3]: number of calls per thread.  Each
 * thread reads and writes its own part of the file; all threads also read at the position of a shared descriptor. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int shared;
static const char* path;
static long calls;

static void* work(void* number) {
  char data[64] = {0};
  const long from = (long)number % 1000 * 4096;
  const int fd = open(path, O_RDWR);
  for (long i = 0; i < calls; ++i) {
    if (pwrite(fd, data, 64, from + i % 64 * 64) != 64) abort();
    if (pread(fd, data, 32, from + i % 64 * 64) != 32) abort();
    if (read(shared, data, 16) < 0) abort();
  }
  close(fd);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  path = argv[1];
  calls = atol(argv[3]);
  const long threads = atol(argv[2]);
  shared = open(path, O_RDWR | O_CREAT, 0600);
  if (ftruncate(shared, 1000 * 4096) != 0) return 3;
  for (long created = 0; created < threads;) {
    pthread_t ids[8];
    int started = 0;
    for (; started < 8 && created < threads; ++started, ++created)
      if (pthread_create(&ids[started], NULL, work, (void*)created) != 0) return 4;
    for (int i = 0; i < started; ++i) pthread_join(ids[i], NULL);
  }
  return 0;
}
