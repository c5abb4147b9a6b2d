/* A signal handler jumps out of the interrupted call by siglongjmp(), 1000 times; then another thread opens files, and
   this one reads. A jump out of open() loses the new descriptor, so every round closes all descriptors that may be
   open: otherwise the program runs out of descriptors in one run of a hundred, recorded or not. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf target;
static volatile int jumps;

static void handler(int number) {
  (void)number;
  ++jumps;
  siglongjmp(target, 1);
}

static void* open_and_close_files(void* unused) {
  for (int i = 0; i < 100; ++i) close(open("/etc/hosts", O_RDONLY));
  return unused;
}

int main(int argc, char** argv) {
  const int first = open("/etc/passwd", O_RDONLY);
  signal(SIGALRM, handler);
  sigsetjmp(target, 1);
  while (jumps < 1000) {
    const struct itimerval soon = {{0, 0}, {0, 20 + jumps % 100}};
    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;) {
      open("/etc/passwd", O_RDONLY);
      for (int i = first; i < 20; ++i) close(i);
    }
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, open_and_close_files, NULL) != 0 || pthread_join(thread, NULL) != 0) return 1;
  char data[16];
  const int fd = open(argv[argc - 1], O_RDONLY);
  for (int i = 0; i < 10; ++i)
    if (read(fd, data, sizeof data) != sizeof data) return 2;
  return 0;
}
