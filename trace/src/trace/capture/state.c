/* The recording state of this process: how it begins, continues after a fork, and ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "trace/capture/capture.h"
#include "trace/capture/threads.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static _Atomic int first_state;
_Atomic int* capture_state = &first_state;
__thread int capture_spawning;
char capture_path[4096];
struct text capture_own_text;
struct text capture_libc_text;

static _Atomic int process;  // id of the process that owns the memory
static _Atomic int ended;    // id of the process that has ended its recording
static _Atomic int stopped;  // for this process and all processes that it forks

int capture_process(void) { return atomic_load_explicit(&process, memory_order_relaxed); }

bool capture_in_borrowed_memory(void) { return RAW0(SYS_getpid) != capture_process(); }

bool capture_table_wanted(uintptr_t caller) { return capture_wanted(caller) && !capture_in_borrowed_memory(); }

static const char* setting(const char* name) {
  const size_t length = strlen(name);
  for (char** entry = environ; entry != NULL && *entry != NULL; ++entry)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return NULL;
}

// Reads the command line, with its words separated by blanks.
static void command_line(char* text, size_t capacity) {
  long length = account_slurp("/proc/self/cmdline", text, capacity);
  if (length <= 0) {
    memcpy(text, "?", 2);
    return;
  }
  for (long i = 0; i + 1 < length; ++i)
    if (text[i] == 0) text[i] = ' ';
}

// Puts the state into a page that the kernel clears in a forked child, so that every fork is noticed.
static void map_state(void) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {
    munmap(page, 4096);
    return;
  }
  _Atomic int* state = page;
  atomic_store(state, CAPTURE_BEGINNING);
  capture_state = state;
}

// Joins the trace. Plait's own numbers of files and operations begin far from these, in case the program uses Plait.
static bool join(void) {
  char command[4096];
  command_line(command, sizeof command);
  return plait_events_begin(capture_path, command, plait_events_job_rank(setting), 1, 1) == 0;
}

__thread int capture_paused __attribute__((tls_model("initial-exec")));

struct text capture_plait_text;

static int find_text(struct dl_phdr_info* object, size_t bytes, void* address) {
  (void)bytes;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const struct text text = {object->dlpi_addr + part->p_vaddr, part->p_memsz};
    if (part->p_type != PT_LOAD || !text_has(&text, *(const uintptr_t*)address)) continue;
    capture_plait_text.begin = text.begin;
    // Stored last: a range of size 0 contains no address, so other threads never see a half-set range.
    atomic_thread_fence(memory_order_release);
    capture_plait_text.size = text.size;
    return 1;
  }
  return 0;
}

// For Plait in a recorded program, which records its requests to the system itself. Between 1 and 0, the calls of the
// requesting library in this thread are not recorded; those of signal handlers are.
EXPORT void plait_capture_pause(int paused);
void plait_capture_pause(int paused) {
  uintptr_t caller = CALLER();
  if (text_has(&capture_own_text, caller)) return;
  if (UNLIKELY(capture_plait_text.size == 0)) dl_iterate_phdr(find_text, &caller);
  capture_paused += paused != 0 ? 1 : -1;
}

// True if this program may not read the counter from which the C library computes the time, a setting that it
// inherits.
static bool time_counter_is_forbidden(void) {
  int mode = 0;
  return RAW2(SYS_prctl, PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV;
}

static bool begin_first(void) {
  const char* path = setting("PLAIT_RECORD");
  if (path == NULL || *path != '/' || strlen(path) >= sizeof capture_path) return false;
  if (time_counter_is_forbidden()) return false;
  strcpy(capture_path, path);
  elf_find_texts();
  if (capture_libc_text.size == 0) return false;  // not glibc: the internals of other C libraries are unknown
  map_state();
  if (!join()) return false;
  if (has_one_thread()) account_keep();  // other threads may be adding to the sums
  put_event((struct plait_event){
      .kind = PLAIT_EVENT_START, .interface = PLAIT_INTERFACE_UNKNOWN, .start = plait_events_now(), .offset = -1});
  patch_libc();
  account_start();
  return true;
}

static void continue_after_fork(void) {
  account_forked();
  aio_forked();
  uring_forked();
  table_shared();
  capture_spawning = 0;
  plait_events_forked();
  account_keep();
  put_event((struct plait_event){
      .kind = PLAIT_EVENT_START, .interface = PLAIT_INTERFACE_UNKNOWN, .start = plait_events_now(), .offset = -1});
}

bool capture_begin(void) {
  _Atomic int* state = capture_state;
  int expected = CAPTURE_NOT_BEGUN;
  if (!atomic_compare_exchange_strong(state, &expected, CAPTURE_BEGINNING)) return expected == CAPTURE_ON;
  const int saved = errno;
  bool on = atomic_load(&stopped) == 0;
  if (!on) {  // makes no system call at all
  } else if (atomic_load(&process) == 0) {
    atomic_store(&process, (int)RAW0(SYS_getpid));
    on = begin_first();
  } else {
    atomic_store(&process, (int)RAW0(SYS_getpid));
    continue_after_fork();
  }
  atomic_store(capture_state, on ? CAPTURE_ON : CAPTURE_OFF);
  errno = saved;
  return on;
}

void capture_leave(void) {
  if (!capture_wanted(0) || capture_in_borrowed_memory()) return;
  const int id = capture_process();
  if (atomic_exchange(&ended, id) == id) return;
  aio_end();
  uring_end();
  account_compare();
  put_event((struct plait_event){
      .kind = PLAIT_EVENT_EXIT, .interface = PLAIT_INTERFACE_UNKNOWN, .start = plait_events_now(), .offset = -1});
  plait_events_end();
  atomic_store(capture_state, CAPTURE_OFF);
}

void capture_stop(void) {
  if (!capture_wanted(0) || capture_in_borrowed_memory()) return;
  aio_end();
  uring_end();
  account_compare();
  plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
  plait_events_end();
  atomic_store(&stopped, 1);
  atomic_store(capture_state, CAPTURE_OFF);
}

__attribute__((constructor)) static void start(void) {
  (void)NEXT(read);  // finds the next functions of all names
  capture_begin();
}
