/* Copies argv[1] to argv[2] by read and write calls of 100 bytes. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int from = open(argv[1], O_RDONLY);
  const int to = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (from < 0 || to < 0) {
    perror("open");
    return 3;
  }
  char data[100];
  for (;;) {
    const ssize_t got = read(from, data, sizeof data);
    if (got <= 0) return got < 0 ? 4 : close(from) | close(to);
    if (write(to, data, (size_t)got) != got) return 5;
  }
}
