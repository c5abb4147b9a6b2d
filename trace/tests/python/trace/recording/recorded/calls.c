/* Makes one call of every kind on the file argv[1], and writes the expected event of each call to the file argv[2]. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static FILE* expected;
static void expect(const char* kind, long offset, long length, long result) {
  fprintf(expected, "%s %ld %ld %ld\n", kind, offset, length, result);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  expected = fopen(argv[2], "w");
  char data[8192];
  memset(data, 'x', sizeof data);
  struct iovec parts[2] = {{data, 100}, {data + 100, 200}};
  const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  expect("WRITE", 0, 8192, write(fd, data, 8192));
  expect("WRITE", 8192, 300, writev(fd, parts, 2));
  expect("WRITE", 20000, 50, pwrite(fd, data, 50, 20000));
  expect("WRITE", 30000, 300, pwritev(fd, parts, 2, 30000));
  expect("WRITE", 8492, 300, pwritev2(fd, parts, 2, -1, 0));
  expect("WRITE", 40000, 300, pwritev2(fd, parts, 2, 40000, 0));
  expect("WRITE", 8792, 10, syscall(SYS_write, fd, data, 10));
  expect("WRITE", 50000, 10, syscall(SYS_pwrite64, fd, data, 10, 50000L));
  expect("SEEK", 4000, 0, lseek(fd, 4000, SEEK_SET) == 4000 ? 0 : -1);
  expect("READ", 4000, 1000, read(fd, data, 1000));
  const int other = dup(fd);
  expect("READ", 5000, 1000, read(other, data, 1000));
  const int third = fcntl(fd, F_DUPFD, 100);
  expect("READ", 6000, 300, readv(third, parts, 2));
  close(other);
  close(third);
  expect("READ", 0, 8192, pread(fd, data, 8192, 0));
  expect("READ", 49000, 8192, pread(fd, data, 8192, 49000));
  expect("READ", 100, 300, preadv(fd, parts, 2, 100));
  expect("READ", 6300, 300, preadv2(fd, parts, 2, -1, 0));
  expect("READ", 6600, 300, syscall(SYS_readv, fd, parts, 2));
  expect("SEEK", 50010, 0, lseek(fd, 0, SEEK_END) == 50010 ? 0 : -1);
  expect("READ", 50010, 100, read(fd, data, 100));
  expect("READ", -1, 100, read(-1, data, 100) < 0 ? -9 : 0);
  expect("TRUNCATE", 60000, 0, ftruncate(fd, 60000));
  expect("TRUNCATE", 55000, 0, truncate(argv[1], 55000));
  expect("SYNC", -1, 0, fdatasync(fd));
  const int appending = open(argv[1], O_WRONLY | O_APPEND);
  expect("WRITE", 55000, 70, write(appending, data, 70));
  expect("WRITE", 55070, 30, write(appending, data, 30));
  const int again = open(argv[1], O_RDWR);
  off_t from = 10;
  expect("COPY", 10, 40, sendfile(again, fd, &from, 40));
  from = 20000;
  expect("COPY", 20000, 60, copy_file_range(fd, &from, again, NULL, 60, 0));
  void* memory = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 4096);
  expect("MAP", 4096, 8192, memory == MAP_FAILED ? -1 : 0);
  munmap(memory, 8192);
  expect("UNMAP", 4096, 8192, 0);
  FILE* stream = fopen(argv[1], "r");
  setvbuf(stream, NULL, _IOFBF, 4096);
  fgetc(stream);
  expect("READ", 0, 4096, 4096);
  fseek(stream, 10000, SEEK_SET);
  fgetc(stream);
  expect("SEEK", 8192, 0, 0);
  expect("READ", 8192, 4096, 4096);
  fclose(stream);
  fclose(expected);
  return 0;
}
