/* Reads, then disables the time stamp counter, from which the C library computes the time, then reads and writes; a
 * child does the same. */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  char data[8];
  const int fd = open("/etc/passwd", O_RDONLY);
  if (read(fd, data, sizeof data) != sizeof data) return 1;
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) return 77;
  if (read(fd, data, sizeof data) != sizeof data || write(1, "inside\n", 7) != 7) return 2;
  const pid_t child = fork();
  if (child == 0) _exit(read(fd, data, sizeof data) == sizeof data ? 0 : 3);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 4;
  return 0;
}
