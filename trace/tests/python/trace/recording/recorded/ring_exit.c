/* Children exit in a signal handler while they use an io_uring. */
#include <fcntl.h>
#include <liburing.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void handler(int number) {
  (void)number;
  _exit(0);
}

static int child(const char* name, int delay) {
  struct io_uring ring;
  static char data[64];
  const int fd = open(name, O_RDONLY);
  if (io_uring_queue_init(4096, &ring, 0) != 0) return 77;
  signal(SIGALRM, handler);
  const struct itimerval soon = {{0, 0}, {0, delay}};
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;) {
    for (int i = 0; i < 64; ++i) io_uring_prep_read(io_uring_get_sqe(&ring), fd, data, sizeof data, 0);
    io_uring_submit_and_wait(&ring, 64);
    struct io_uring_cqe* cqe;
    unsigned head;
    unsigned seen = 0;
    io_uring_for_each_cqe(&ring, head, cqe)++ seen;
    io_uring_cq_advance(&ring, seen);
  }
}

int main(int argc, char** argv) {
  for (int i = 0; i < 15; ++i) {
    const pid_t id = fork();
    if (id == 0) return child(argv[argc - 1], 10000 + 777 * i);
    int status;
    if (waitpid(id, &status, 0) != id || status != 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  return 0;
}
