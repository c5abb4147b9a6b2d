/* Threads are cancelled while they read a pipe, or a file repeatedly; a signal handler writes while the program writes;
 * errno stays unchanged. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int pipe_ends[2];
static int fd;
static volatile int handled;

static void* wait_for_data(void* unused) {
  char data[8];
  if (read(pipe_ends[0], data, sizeof data) >= 0) return NULL;
  return unused;
}

static void* read_repeatedly(void* unused) {
  char data[8];
  while (pread(fd, data, sizeof data, 0) >= 0) continue;
  return unused;
}

static void handler(int number) {
  (void)number;
  if (write(fd, "h", 1) == 1) ++handled;
}

int main(int argc, char** argv) {
  if (argc < 2 || pipe(pipe_ends) != 0) return 2;
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_for_data, NULL) != 0) return 3;
  const struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  pthread_cancel(thread);
  void* result;
  pthread_join(thread, &result);
  if (result != PTHREAD_CANCELED) return 4;
  fd = open("/etc/passwd", O_RDONLY);
  if (pthread_create(&thread, NULL, read_repeatedly, NULL) != 0) return 3;
  nanosleep(&pause, NULL);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  close(fd);
  if (result != PTHREAD_CANCELED) return 8;
  fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (handled < 200)
    if (write(fd, "m", 1) != 1 && errno != EINTR) return 5;
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  errno = 0;
  if (read(-1, argv, 1) != -1 || errno != EBADF) return 6;
  errno = 77;
  if (write(fd, "e", 1) != 1 || errno != 77) return 7;
  return 0;
}
