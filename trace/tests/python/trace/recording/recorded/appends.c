/* Appends to the file argv[1], which has 100 bytes, with the flag RWF_APPEND, between reads at the current position. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  char text[10] = "abcdefghi";
  const struct iovec part = {text, sizeof text};
  const int file = open(argv[1], O_RDWR);
  if (read(file, text, sizeof text) != sizeof text) return 3;             // at 0
  if (pwritev2(file, &part, 1, 5, RWF_APPEND) != sizeof text) return 4;   // at 100
  if (read(file, text, sizeof text) != sizeof text) return 5;             // at 10
  if (pwritev2(file, &part, 1, -1, RWF_APPEND) != sizeof text) return 6;  // at 110, and moves the position
  if (write(file, text, sizeof text) != sizeof text) return 7;            // at 120
  return 0;
}
