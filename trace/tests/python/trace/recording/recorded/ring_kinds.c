/* Requests of an io_uring that are neither plain reads nor plain writes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct io_uring ring;

/* Submits the prepared request, and returns its result. */
static int submit_and_wait(void) {
  struct io_uring_cqe* cqe;
  if (io_uring_submit(&ring) != 1 || io_uring_wait_cqe(&ring, &cqe) != 0) return -1;
  const int result = cqe->res;
  io_uring_cqe_seen(&ring, cqe);
  return result;
}

int main(int argc, char** argv) {
  int pair[2];
  int pipes[2];
  char text[16];
  const int file = open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (io_uring_queue_init(8, &ring, 0) != 0) return 77;
  if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || pipe(pipes) != 0) return 1;
  struct io_uring_sqe* sqe = io_uring_get_sqe(&ring);
  io_uring_prep_send(sqe, pair[0], "hello", 5, 0);
  if (submit_and_wait() != 5) return 2;
  sqe = io_uring_get_sqe(&ring);
  io_uring_prep_recv(sqe, pair[1], text, sizeof text, 0);
  if (submit_and_wait() != 5 || memcmp(text, "hello", 5) != 0) return 3;
  struct iovec parts[2] = {{"one", 3}, {"more", 4}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  sqe = io_uring_get_sqe(&ring);
  io_uring_prep_sendmsg(sqe, pair[0], &message, 0);
  if (submit_and_wait() != 7) return 4;
  sqe = io_uring_get_sqe(&ring);
  io_uring_prep_fallocate(sqe, file, 0, 0, 4096);
  if (submit_and_wait() != 0) return 5;
  sqe = io_uring_get_sqe(&ring);
  io_uring_prep_splice(sqe, file, 0, pipes[1], -1, 100, 0);
  return submit_and_wait() == 100 ? 0 : 6;
}
