/* A child that this program did not start by fork() moves the position of a file that both have open. argv[1] says how
 * the child gets the file: by clone(), by the system call, by forkpty(), or in a message of a socket. argv[2] is the
 * file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int fd;
static char data[1000];
static char stack[65536];

static int read_in_child(void* unused) {
  (void)unused;
  return read(fd, data, 1000) == 1000 ? 0 : 1;
}

/* Sends the descriptor to a child that was forked before the file was opened. */
static pid_t send_descriptor(const char* name) {
  int ends[2];
  char control[64];
  struct iovec part = {data, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(sizeof fd)};
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return -1;
  const pid_t id = fork();
  if (id == 0) {
    if (recvmsg(ends[1], &message, 0) != 1) _exit(3);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    _exit(read_in_child(NULL));
  }
  fd = open(name, O_RDONLY);
  memset(control, 0, sizeof control);
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_len = CMSG_LEN(sizeof fd);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return sendmsg(ends[0], &message, 0) == 1 ? id : -1;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  pid_t id = -1;
  int terminal;
  if (strcmp(argv[1], "message") == 0) {
    id = send_descriptor(argv[2]);
  } else {
    fd = open(argv[2], O_RDONLY);
    if (strcmp(argv[1], "clone") == 0) id = clone(read_in_child, stack + sizeof stack, SIGCHLD, NULL);
    if (strcmp(argv[1], "syscall") == 0) id = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (strcmp(argv[1], "forkpty") == 0) id = forkpty(&terminal, NULL, NULL, NULL);
    if (id == 0) _exit(read_in_child(NULL));
  }
  int status;
  if (id < 0 || waitpid(id, &status, 0) != id || status != 0) return 3;
  return read(fd, data, 500) == 500 && lseek(fd, 0, SEEK_CUR) == 1500 ? 0 : 4;
}
