/*
 * Calls that wait for children.
 *
 * When a process waits for a child, the kernel adds the child's counters to the parent's. Therefore the child, which
 * is a zombie until then, is inspected before the wait, and its counters are subtracted from those that the parent's
 * events must explain.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/capture/calls.h"
#include "trace/capture/cancel.h"

static bool has_ended(const siginfo_t* about) {
  return about->si_code == CLD_EXITED || about->si_code == CLD_KILLED || about->si_code == CLD_DUMPED;
}

// Waits for a child selected by `kind`, `id` and `options`, but leaves it a zombie.  returns  its process id, 0 if no
// child has ended (WNOHANG), or -errno.
static long wait_without_reaping(int kind, int id, int options, siginfo_t* about, bool may_cancel) {
  about->si_pid = 0;
  int type;
  may_cancel = may_cancel && cancel_begin(&type);
  const long result = RAW5(SYS_waitid, kind, id, about, options | WNOWAIT, NULL);
  if (may_cancel) cancel_end(type);
  return result < 0 ? result : about->si_pid;
}

long capture_wait4(int id, int* status, int options, struct rusage* usage, bool may_cancel) {
  if (!capture_should_record(0) || capture_in_borrowed_memory()) {
    int type;
    may_cancel = may_cancel && cancel_begin(&type);
    const long result = RAW4(SYS_wait4, id, status, options, usage);
    if (may_cancel) cancel_end(type);
    return result;
  }
  const int kind = id > 0 ? P_PID : id == -1 ? P_ALL : P_PGID;
  // Linux before 5.4 does not accept 0 for the caller's own group here.
  const int group_or_process = id > 0 ? id : id < -1 ? -id : id == 0 ? (int)RAW1(SYS_getpgid, 0) : 0;
  for (;;) {
    siginfo_t about;
    const long child = wait_without_reaping(kind, group_or_process, options | WEXITED, &about, may_cancel);
    if (child <= 0) return child;
    if (has_ended(&about)) account_subtract_child((int)child);
    const long result = RAW4(SYS_wait4, child, status, options | WNOHANG, usage);
    // Another thread may have reaped the child first.
    if (result != 0 && result != -ECHILD) return result;
  }
}

long capture_waitid(int kind, int id, siginfo_t* info, int options, struct rusage* usage, bool may_cancel) {
  siginfo_t about;
  if (!(options & WEXITED) || (options & WNOWAIT) || !capture_should_record(0) || capture_in_borrowed_memory()) {
    int type;
    may_cancel = may_cancel && cancel_begin(&type);
    const long result = RAW5(SYS_waitid, kind, id, info, options, usage);
    if (may_cancel) cancel_end(type);
    return result;
  }
  for (;;) {
    const long child = wait_without_reaping(kind, id, options, &about, may_cancel);
    if (child < 0) return child;
    if (child == 0) {
      if (info != NULL) {  // the kernel writes this if no child has ended
        info->si_signo = info->si_errno = info->si_code = 0;
        info->si_pid = info->si_status = 0;
        info->si_uid = 0;
      }
      return 0;
    }
    if (has_ended(&about)) account_subtract_child((int)child);
    siginfo_t reaped;
    reaped.si_pid = 0;
    const long result = RAW5(SYS_waitid, P_PID, child, &reaped, options | WNOHANG, usage);
    if (result == -ECHILD || (result == 0 && reaped.si_pid == 0)) continue;
    if (info != NULL) *info = reaped;
    return result;
  }
}

// The next library waits by the C library's functions, which lead back to this file.
#define WAIT(ARGUMENTS, CALL)                                          \
  if (next != CHAIN_END) return (pid_t)chain_forward(next, ARGUMENTS); \
  return (pid_t)c_result(CALL);

BOTH(pid_t, wait4, (pid_t id, int* status, int options, struct rusage* usage),
     WAIT(ARGUMENTS(id, (long)status, options, (long)usage), capture_wait4(id, status, options, usage, true)))
BOTH(pid_t, wait3, (int* status, int options, struct rusage* usage),
     WAIT(ARGUMENTS((long)status, options, (long)usage), capture_wait4(-1, status, options, usage, true)))
BOTH(pid_t, waitpid, (pid_t id, int* status, int options),
     WAIT(ARGUMENTS(id, (long)status, options), capture_wait4(id, status, options, NULL, true)))
BOTH(pid_t, wait, (int* status), WAIT(ARGUMENTS((long)status), capture_wait4(-1, status, 0, NULL, true)))
BOTH(int, waitid, (idtype_t kind, id_t id, siginfo_t* about, int options),
     WAIT(ARGUMENTS((long)kind, (long)id, (long)about, options),
          capture_waitid((int)kind, (int)id, about, options, NULL, true)))
