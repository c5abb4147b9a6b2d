/* Calls with invalid pointers: each must fail as without recording. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void print_result(const char* what, long result) {
  printf("%s %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

int main(void) {
  void* nowhere = (void*)8;
  char* words[] = {"true", NULL};
  const int file = open("/etc/passwd", O_RDONLY);
  print_result("readv", readv(file, nowhere, 1));
  print_result("readv", readv(-1, nowhere, 1));
  print_result("preadv", preadv(file, nowhere, 1, -5));
  print_result("copy_file_range", copy_file_range(file, nowhere, 1, NULL, 1, 0));
  print_result("execve", execve("/bin/true", words, nowhere));
  aio_context_t context = 0;
  print_result("io_setup", syscall(SYS_io_setup, 4, &context));
  print_result("io_submit", syscall(SYS_io_submit, context, 1, nowhere));
  struct iocb* blocks[] = {nowhere};
  print_result("io_submit", syscall(SYS_io_submit, context, 1, blocks));
  return 0;
}
