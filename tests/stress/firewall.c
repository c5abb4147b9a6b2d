// A library for LD_PRELOAD that acts like a firewall between hosts that admits MPI only: connect() fails with the error
// BLOCKED (such as ECONNREFUSED) if Plait calls it for a TCP socket. Calls by MPI and Unix sockets succeed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int connect(int socket, const struct sockaddr* to, socklen_t length) {
  static int (*real)(int, const struct sockaddr*, socklen_t);
  Dl_info caller;
  if (real == 0) *(void**)&real = dlsym(RTLD_NEXT, "connect");
  if (to->sa_family == AF_UNIX || dladdr(__builtin_return_address(0), &caller) == 0 ||
      strstr(caller.dli_fname, "libplait") == NULL)
    return real(socket, to, length);
  errno = BLOCKED;
  return -1;
}
