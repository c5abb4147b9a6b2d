/* Replaces itself by the program argv[2].  argv[1] is "fexecve", or "failing": then the exec fails, and the program
 * reads the file argv[3]. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  char* arguments[] = {argv[2], argv[3], NULL};
  char* environment[] = {"A=b", NULL};
  const int program = open(argv[2], O_RDONLY | O_CLOEXEC);
  char text[16];
  if (strcmp(argv[1], "fexecve") == 0) {
    fexecve(program, arguments, environment);
    return 3;
  }
  if (strcmp(argv[1], "failing") == 0) {
    char* none[] = {NULL};
    static char longest[1 << 20];  // longer than the maximum argument
    memset(longest, 'a', sizeof longest - 1);
    char* much[] = {argv[2], longest, NULL};
    execve(argv[2], much, none);
    if (vfork() == 0) {
      execve(argv[2], much, none);
      _exit(0);
    }
    wait(NULL);
    const int file = open(argv[3], O_RDONLY);
    if (read(file, text, sizeof text) < 0 || read(program, text, sizeof text) != sizeof text) return 4;
    return 0;
  }
  return 2;
}
