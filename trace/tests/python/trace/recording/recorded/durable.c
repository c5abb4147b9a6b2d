/* Writes to the file argv[1]: durably by a flag of open(), durably by a flag of the call, and not durably. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  char text[10] = "abcdefghi";
  const struct iovec part = {text, sizeof text};
  const int data = open(argv[1], O_RDWR | O_CREAT | O_DSYNC, 0600);
  if (write(data, text, sizeof text) != sizeof text) return 3;
  if (pread(data, text, sizeof text, 0) != sizeof text) return 4;
  const int both = open(argv[1], O_RDWR | O_SYNC);
  if (write(both, text, sizeof text) != sizeof text) return 5;
  const int plain = open(argv[1], O_RDWR);
  if (write(plain, text, sizeof text) != sizeof text) return 6;
  if (pwritev2(plain, &part, 1, 0, RWF_DSYNC) != sizeof text) return 7;
  return write(plain, text, sizeof text) == sizeof text ? 0 : 8;
}
