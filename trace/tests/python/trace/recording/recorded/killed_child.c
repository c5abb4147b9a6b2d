/* Forks a child, which reads 100 bytes of the file argv[1], then argv[2] bytes of it without the C library, and is
 * killed.  The parent waits for it. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes the system call read() by an instruction, which the recording library cannot intercept. */
static long read_by_instruction(int fd, void* data, size_t size) {
#if defined(__x86_64__)
  long result = SYS_read;
  __asm__ volatile("syscall" : "+a"(result) : "D"((long)fd), "S"(data), "d"(size) : "rcx", "r11", "memory");
  return result;
#else
  register long number __asm__("x8") = SYS_read;
  register long x0 __asm__("x0") = fd;
  register long x1 __asm__("x1") = (long)data;
  register long x2 __asm__("x2") = (long)size;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(number), "r"(x1), "r"(x2) : "memory");
  return x0;
#endif
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  static char data[65536];
  const long unseen = atol(argv[2]);
  if (fork() == 0) {
    const int file = open(argv[1], O_RDONLY);
    if (read(file, data, 100) != 100) return 3;
    if (unseen > 0 && read_by_instruction(file, data, (size_t)unseen) != unseen) return 4;
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  wait(&status);
  return WIFSIGNALED(status) ? 0 : 5;
}
