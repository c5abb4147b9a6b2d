// Preloaded: what Plait connects to other hosts by fails; MPI's connections and those within a host do not.
// BLOCKED is the error that they meet.
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
