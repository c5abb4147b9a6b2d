/* A library that is preloaded together with the recorder and returns results that no kernel returns: negative values
 * other than -1, -1 with an errno of 0, and success with a changed errno.  With TAKE it is the program that calls these
 * functions and prints their results. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef TAKE
/* Returns -7 for the descriptor 1001, -1 with the errno 0 for 1002, and otherwise `success` with the errno `fd`. */
static long answer(int fd, long success) {
  if (fd == 1001) return -7;
  errno = fd == 1002 ? 0 : fd;
  return fd == 1002 ? -1 : success;
}

ssize_t read(int fd, void* data, size_t size) {
  (void)data;
  return answer(fd, (long)size);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  (void)data;
  (void)offset;
  return answer(fd, (long)size);
}
off_t lseek(int fd, off_t offset, int whence) {
  (void)whence;
  return answer(fd, offset);
}
int close(int fd) { return (int)answer(fd, 0); }
int dup(int fd) { return (int)answer(fd, 0); }
int fsync(int fd) { return (int)answer(fd, 0); }
int ftruncate(int fd, off_t size) {
  (void)size;
  return (int)answer(fd, 0);
}
int open(const char* path, int flags, ...) {
  (void)flags;
  return (int)answer(path[0] == '1' ? 1001 : path[0] == '2' ? 1002 : 1003, 2000);
}
int fcntl(int fd, int command, ...) {
  (void)command;
  return (int)answer(fd, 0);
}
int munmap(void* address, size_t size) {
  (void)address;
  return (int)answer((int)size, 0);
}
int io_submit(void* context, long count, void* requests) {
  (void)context;
  (void)requests;
  return (int)answer((int)count, 0);
}
int io_destroy(void* context) {
  (void)context;
  errno = 5;
  return -1; /* libaio's -EPERM */
}
#else
#include <fcntl.h>
int io_submit(void* context, long count, void* requests);
int io_destroy(void* context);

static void show(const char* name, long value) { printf("%s %ld %d\n", name, value, errno); }
#define SHOW(NAME, CALL) (errno = 11, show(NAME, (long)(CALL)))

int main(void) {
  static const char* const paths[] = {"1", "2", "3"};
  char data[4] = "abc";
  for (int i = 0; i < 3; ++i) {
    const int fd = 1001 + i;
    SHOW("read", read(fd, data, 4));
    SHOW("pwrite", pwrite(fd, data, 4, 0));
    SHOW("lseek", lseek(fd, 40, SEEK_SET));
    SHOW("close", close(fd));
    SHOW("dup", dup(fd));
    SHOW("fsync", fsync(fd));
    SHOW("ftruncate", ftruncate(fd, 4));
    SHOW("open", open(paths[i], O_RDONLY));
    SHOW("fcntl", fcntl(fd, F_GETFD));
    SHOW("munmap", munmap(data, (size_t)fd));
    SHOW("io_submit", io_submit(NULL, fd, NULL));
    SHOW("io_destroy", io_destroy(NULL));
  }
  return 0;
}
#endif
