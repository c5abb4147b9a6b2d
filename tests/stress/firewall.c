// Preloaded: no IPv6 socket can connect.  Those are what Plait uses between hosts; MPI uses the other family.
// BLOCKED is the error that they meet.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>

int connect(int socket, const struct sockaddr* to, socklen_t length) {
  static int (*real)(int, const struct sockaddr*, socklen_t);
  if (real == 0) *(void**)&real = dlsym(RTLD_NEXT, "connect");
  if (to->sa_family != AF_INET6) return real(socket, to, length);
  errno = BLOCKED;
  return -1;
}
