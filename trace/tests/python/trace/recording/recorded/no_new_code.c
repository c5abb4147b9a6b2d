/* Runs a program that cannot make code at run time: PR_SET_MDWE (Linux 6.3) forbids memory that is writable and
 * executable, and making memory executable later. Exit status 77: the system does not support it. */
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2 || prctl(65 /* PR_SET_MDWE */, 1 /* PR_MDWE_REFUSE_EXEC_GAIN */, 0, 0, 0) != 0) return 77;
  execvp(argv[1], argv + 1);
  return 1;
}
