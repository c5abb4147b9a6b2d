/* A library linked to liburing; with MAIN a program that loads this library privately (RTLD_LOCAL). */
#ifdef MAIN
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char** argv) {
  void* library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
  int (*use)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "use");
  return use == NULL ? 2 : use();
}
#else
#include <errno.h>
#include <liburing.h>

int use(void) {
  struct io_uring ring;
  const int error = io_uring_queue_init(8, &ring, 0);
  if (error == 0) io_uring_queue_exit(&ring);
  return error == -EPERM ? 77 : error == 0 ? 0 : 1;
}
#endif
