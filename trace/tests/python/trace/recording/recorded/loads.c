/* Loads a library. */
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

int main(void) {
  if (dlopen("libm.so.6", RTLD_NOW) == NULL) return 1;
  const int fd = open("/dev/null", O_RDONLY);
  return close(fd);
}
