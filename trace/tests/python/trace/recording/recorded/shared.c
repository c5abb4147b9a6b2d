/* Parent and child write alternately to the file argv[1] through one open file description. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int fd = open(argv[1], O_WRONLY | O_CREAT, 0600);
  for (int i = 0; i < 3; ++i) {
    if (write(fd, "parent....", 10) != 10) return 3;
    if (fork() == 0) _exit(write(fd, "child.....", 10) == 10 ? 0 : 4);
    int status;
    wait(&status);
    if (status != 0) return 5;
  }
  return 0;
}
