/* Writes argv[2] pieces of 16 bytes into argv[1], then is killed. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int fd = open(argv[1], O_WRONLY | O_CREAT, 0600);
  for (long i = 0; i < atol(argv[2]); ++i)
    if (write(fd, "0123456789abcdef", 16) != 16) return 3;
  return kill(getpid(), SIGKILL);
}
