/* Three parts of a program whose second library defines names of the C library but is searched after it: the loader
 * never binds these names to the second library.  MAIN: the program; FIRST: the library that it needs; otherwise the
 * second library, which FIRST needs. */
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(MAIN)
int first(void);
int main(int argc, char** argv) {
  char data[6] = "";
  FILE* file = fopen(argv[argc - 1], "r");
  if (file == NULL) return 2;
  const ssize_t got = read(fileno(file), data, 5);
  const int copy = dup(fileno(file));
  printf("%zd %s %d %d %d\n", got, data, copy > 2, close(copy), first());
  return 0;
}
#elif defined(FIRST)
int second(void);
int first(void) { return second(); }
#else
int second(void) { return 1; }
ssize_t read(int fd, void* data, size_t size) {
  (void)fd;
  for (size_t i = 0; i < size; ++i) ((char*)data)[i] = "WRONG"[i % 5];
  return 5;
}
int dup(int fd) {
  (void)fd;
  return 0;
}
int close(int fd) {
  (void)fd;
  return -1;
}
#endif
