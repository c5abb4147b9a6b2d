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

int main(int count, char** words) {
  if (count < 4) return 2;
  path = words[1];
  calls = atol(words[3]);
  const long threads = atol(words[2]);
  shared = open(path, O_RDWR | O_CREAT, 0600);
  if (ftruncate(shared, 1000 * 4096) != 0) return 3;
  for (long done = 0; done < threads;) {
    pthread_t ids[8];
    int some = 0;
    for (; some < 8 && done < threads; ++some, ++done)
      if (pthread_create(&ids[some], NULL, work, (void*)done) != 0) return 4;
    for (int i = 0; i < some; ++i) pthread_join(ids[i], NULL);
  }
  return 0;
}
