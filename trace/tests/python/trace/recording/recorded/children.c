/* Starts children of every kind, which write to the file argv[1]: by fork (one of these is killed), the raw system
 * call, vfork, posix_spawn, system, popen, and exec with an empty environment. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void put(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) _exit(9);
  close(fd);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* path = argv[1];
  if (argc > 2) {
    put(path, argv[2]);
    return 0;
  }
  char* none[] = {NULL};
  char* vfork_words[] = {argv[0], argv[1], "1vfork\n", NULL};
  char* spawn_words[] = {argv[0], argv[1], "22spawn\n", NULL};
  char* empty_words[] = {argv[0], argv[1], "333empty\n", NULL};
  char* off_words[] = {argv[0], argv[1], "not recorded\n", NULL};
  char* off[] = {"PLAIT_RECORD=", NULL};
  put(path, "parent\n");
  if (fork() == 0) {
    put(path, "fork\n");
    _exit(0);
  }
  wait(NULL);
  if (syscall(SYS_fork) == 0) {
    put(path, "raw fork\n");
    syscall(SYS_exit_group, 0);
  }
  wait(NULL);
  if (fork() == 0) {
    put(path, "killed\n");
    kill(getpid(), SIGKILL);
  }
  wait(NULL);
  pid_t child = vfork();
  if (child == 0) {
    close(0);
    execve(argv[0], vfork_words, environ);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 50, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 50, 0);
  if (posix_spawn(&child, argv[0], &actions, NULL, spawn_words, environ) != 0) return 5;
  waitpid(child, NULL, 0);
  if (fork() == 0) {
    execve(argv[0], empty_words, none);
    _exit(1);
  }
  wait(NULL);
  if (fork() == 0) {
    execve(argv[0], off_words, off);
    _exit(1);
  }
  wait(NULL);
  char command[4096];
  snprintf(command, sizeof command, "%s %s 'system\n'", argv[0], argv[1]);
  if (system(command) != 0) return 6;
  snprintf(command, sizeof command, "%s %s 'popen\n'", argv[0], argv[1]);
  FILE* stream = popen(command, "r");
  if (pclose(stream) != 0) return 7;
  return 0;
}
