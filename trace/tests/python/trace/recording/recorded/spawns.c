/* Starts programs with new environments by vfork and posix_spawn, and prints how many pages of memory this leaks. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static long pages(void) {
  long count = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &count) != 1) return -1;
  fclose(file);
  return count;
}

int main(void) {
  char* environment[] = {"A=b", NULL};
  char* words[] = {"true", NULL};
  for (int round = 0; round < 2; ++round) {
    const long before = pages();
    for (int i = 0; i < 20; ++i) {
      pid_t child = vfork();
      if (child == 0) {
        execve("/bin/true", words, environment);
        _exit(1);
      }
      waitpid(child, NULL, 0);
      if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environment) != 0) return 1;
      waitpid(child, NULL, 0);
    }
    if (round == 1) printf("%ld\n", pages() - before);
  }
  return 0;
}
