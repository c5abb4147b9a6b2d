/* Calls for child processes and for the end of a process: fork, vfork, posix_spawn, clone, prctl, _exit. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pty.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/capture/calls.h"

// Records that a child was made. child: its process id, or -errno.
static void put_fork(int64_t start, long child) {
  put_event((struct plait_event){.kind = PLAIT_EVENT_FORK,
                                 .interface = PLAIT_INTERFACE_POSIX,
                                 .start = start,
                                 .offset = -1,
                                 .result = child < 0 ? child : 0,
                                 .operation = child < 0 ? 0 : (uint64_t)child});
}

// Returns the next library's function of that name, or the C library's. Ends the program if neither exists, which
// cannot happen with glibc.
static void* next_function(const char* name) {
  void* function = chain_function(name);
  if (function == NULL) function = libc_function(name, NULL);
  if (function == NULL) function = dlsym(RTLD_NEXT, name);
  if (function == NULL) abort();
  return function;
}

EXPORT pid_t fork(void) {
  static _Atomic(void*) cached;
  void* function = atomic_load(&cached);
  if (function == NULL) atomic_store(&cached, function = next_function("fork"));
  const bool recorded = capture_should_record(CALLER());
  const int64_t start = capture_now();
  if (recorded) table_mark_shared();
  const pid_t child = ((pid_t (*)(void))function)();
  if (child == 0)
    capture_begin();
  else if (recorded)
    put_fork(start, child < 0 ? -errno : child);
  return child;
}

EXPORT pid_t _Fork(void) {
  const bool recorded = capture_should_record(CALLER());
  const int64_t start = capture_now();
  if (recorded) table_mark_shared();
  const pid_t child = ((pid_t (*)(void))next_function("_Fork"))();
  if (child > 0 && recorded) put_fork(start, child);
  return child;
}

// forkpty and daemon fork inside the C library.
EXPORT pid_t forkpty(int* side, char* name, const struct termios* about, const struct winsize* size) {
  const bool recorded = capture_should_record(CALLER());
  const int64_t start = capture_now();
  if (recorded) table_mark_shared();
  const pid_t child = ((pid_t (*)(int*, char*, const struct termios*, const struct winsize*))next_function("forkpty"))(
      side, name, about, size);
  if (child == 0)
    capture_begin();
  else if (recorded)
    put_fork(start, child < 0 ? -errno : child);
  return child;
}
EXPORT int daemon(int keep_directory, int keep_streams) {
  if (capture_should_record(CALLER())) table_mark_shared();
  const int result = ((int (*)(int, int))next_function("daemon"))(keep_directory, keep_streams);
  capture_begin();
  return result;
}

// Called by clone (entries.S), which continues with the C library's function.
__attribute__((used)) void* capture_before_clone(unsigned flags) {
  if (!(flags & CLONE_FILES) && capture_should_record(0)) table_mark_shared();
  static _Atomic(void*) cached;
  void* function = atomic_load(&cached);
  if (function == NULL) atomic_store(&cached, function = next_function("clone"));
  return function;
}

// Messages may contain descriptors.
EXPORT ssize_t sendmsg(int socket, const struct msghdr* message, int flags) {
  static _Atomic(void*) cached;
  void* function = atomic_load(&cached);
  if (function == NULL) atomic_store(&cached, function = next_function("sendmsg"));
  if (message != NULL && message->msg_controllen > 0) table_mark_shared();
  return ((ssize_t (*)(int, const struct msghdr*, int))function)(socket, message, flags);
}
EXPORT int sendmmsg(int socket, struct mmsghdr* messages, unsigned count, int flags) {
  static _Atomic(void*) cached;
  void* function = atomic_load(&cached);
  if (function == NULL) atomic_store(&cached, function = next_function("sendmmsg"));
  for (unsigned i = 0; messages != NULL && i < count && i < 1024; ++i)
    if (messages[i].msg_hdr.msg_controllen > 0) table_mark_shared();
  return ((int (*)(int, struct mmsghdr*, unsigned, int))function)(socket, messages, count, flags);
}

// Called by vfork (entries.S) in the parent, before and after it: the child borrows our memory until it runs a
// program.
__attribute__((used)) void capture_before_vfork(void) {
  if (capture_should_record(0)) table_mark_shared();
  ++capture_spawning;
}
__attribute__((used)) void capture_after_vfork(long child) {
  --capture_spawning;
  capture_release_borrowed();
  if (capture_should_record(0)) put_fork(plait_events_now(), child);
}

typedef int spawn_function(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                           char* const[], char* const[]);

// Calls posix_spawn or posix_spawnp by its name, and records the child.
static int spawn(const char* name, pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  const bool recorded = capture_should_record(0);
  const int64_t start = capture_now();
  if (recorded) table_mark_shared();
  pid_t number = 0;
  ++capture_spawning;
  spawn_function* function = (spawn_function*)next_function(name);
  const int error = function(&number, path, actions, attributes, arguments, environment);
  --capture_spawning;
  capture_release_borrowed();
  if (error == 0 && child != NULL) *child = number;
  if (recorded) put_fork(start, error == 0 ? number : -error);
  return error;
}

EXPORT int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  return spawn("posix_spawn", child, path, actions, attributes, arguments, environment);
}
EXPORT int posix_spawnp(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
  return spawn("posix_spawnp", child, path, actions, attributes, arguments, environment);
}

EXPORT int system(const char* command) {
  if (capture_should_record(0)) table_mark_shared();
  ++capture_spawning;
  const int result = ((int (*)(const char*))next_function("system"))(command);
  --capture_spawning;
  capture_release_borrowed();
  return result;
}

EXPORT FILE* popen(const char* command, const char* type) {
  if (capture_should_record(0)) table_mark_shared();
  ++capture_spawning;
  FILE* stream = ((FILE * (*)(const char*, const char*)) next_function("popen"))(command, type);
  --capture_spawning;
  capture_release_borrowed();
  return stream;
}

// Stops recording before the process restricts its system calls, or forbids the counter from which the C library
// computes the time. PR_SET_SECCOMP without a filter only tests if filters exist.
static void before_control(long option, long a, long b) {
  if (option == PR_SET_SECCOMP && (a != SECCOMP_MODE_FILTER || b != 0)) capture_stop();
  if (option == PR_SET_TSC && a == PR_TSC_SIGSEGV) capture_stop();
}
long capture_control_process(long option, long a, long b, long c, long d) {
  before_control(option, a, b);
  return RAW5(SYS_prctl, option, a, b, c, d);
}
long capture_seccomp(long operation, long flags, long filter) {
  if (operation == SECCOMP_SET_MODE_STRICT || (operation == SECCOMP_SET_MODE_FILTER && filter != 0)) capture_stop();
  return RAW3(SYS_seccomp, operation, flags, filter);
}
CHAINED(int, prctl, (int option, ...), va_list list;  //
        va_start(list, option); const long a = va_arg(list, long); const long b = va_arg(list, long);
        const long c = va_arg(list, long); const long d = va_arg(list, long); va_end(list);
        if (next == CHAIN_END) return (int)c_result(capture_control_process(option, a, b, c, d));
        before_control(option, a, b); return (int)chain_forward(next, ARGUMENTS(option, a, b, c, d));)

#define LEAVE()                                                        \
  capture_end();                                                       \
  if (next != CHAIN_END) (void)chain_forward(next, ARGUMENTS(status)); \
  for (;;) RAW1(SYS_exit_group, status);
BOTH(void, _exit, (int status), LEAVE())
CHAINED(void, _Exit, (int status), LEAVE())
