/*
 * The recording state of this process.
 *
 * Recording begins with the library's constructor, or with the first call before it. A child made by fork finds its
 * state cleared (map_state) and joins the trace as a process of its own at its first call. A child made by vfork runs
 * in its parent's memory, and its calls are not recorded.
 */
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

static _Atomic int recorded_process;  // id of the process that owns the memory
static _Atomic int ended_process;     // id of the process that has ended its recording
static _Atomic int stopped;           // for this process and all processes that it forks

int capture_process(void) { return atomic_load_explicit(&recorded_process, memory_order_relaxed); }

bool capture_in_borrowed_memory(void) { return RAW0(SYS_getpid) != capture_process(); }

bool capture_should_record_table(uintptr_t caller) {
  return capture_should_record(caller) && !capture_in_borrowed_memory();
}

static const char* find_variable(const char* name) {
  const size_t length = strlen(name);
  for (char** entry = environ; entry != NULL && *entry != NULL; ++entry)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return NULL;
}

// Reads the command line, with its words separated by blanks.
static void read_command_line(char* text, size_t capacity) {
  long length = account_read_file("/proc/self/cmdline", text, capacity);
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
static bool join_trace(void) {
  char command[4096];
  read_command_line(command, sizeof command);
  return plait_events_begin(capture_path, command, plait_events_job_rank(find_variable), 1, 1) == 0;
}

__thread int capture_paused __attribute__((tls_model("initial-exec")));

struct text capture_plait_text;

// Called for each loaded object: sets capture_plait_text to the range that contains *address.
static int find_plait_text(struct dl_phdr_info* object, size_t bytes, void* address) {
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

// Called by Plait's own library in a recorded program, because that library records its requests itself. Between
// paused = 1 and paused = 0, system calls of that library in this thread are not recorded; calls of signal handlers
// are.
EXPORT void plait_capture_pause(int paused);
void plait_capture_pause(int paused) {
  uintptr_t caller = CALLER();
  if (text_has(&capture_own_text, caller)) return;
  if (UNLIKELY(capture_plait_text.size == 0)) dl_iterate_phdr(find_plait_text, &caller);
  capture_paused += paused != 0 ? 1 : -1;
}

// True if this program may not read the counter from which the C library computes the time, a setting that it
// inherits.
static bool time_counter_is_forbidden(void) {
  int mode = 0;
  return RAW2(SYS_prctl, PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV;
}

// Begins the recording in a program that was started by exec.  returns  false if it is not to be recorded.
static bool begin_recording(void) {
  const char* path = find_variable("PLAIT_RECORD");
  if (path == NULL || *path != '/' || strlen(path) >= sizeof capture_path) return false;
  if (time_counter_is_forbidden()) return false;
  strcpy(capture_path, path);
  elf_find_texts();
  if (capture_libc_text.size == 0) return false;  // not glibc: the internals of other C libraries are unknown
  map_state();
  if (!join_trace()) return false;
  if (has_one_thread()) account_move_to_trace();  // other threads may be adding to the sums
  put_event((struct plait_event){
      .kind = PLAIT_EVENT_START, .interface = PLAIT_INTERFACE_UNKNOWN, .start = plait_events_now(), .offset = -1});
  patch_libc();
  account_start();
  return true;
}

static void continue_after_fork(void) {
  account_reset_in_child();
  aio_reset_in_child();
  uring_reset_in_child();
  table_mark_shared();
  capture_spawning = 0;
  plait_events_forked();
  account_move_to_trace();
  put_event((struct plait_event){
      .kind = PLAIT_EVENT_START, .interface = PLAIT_INTERFACE_UNKNOWN, .start = plait_events_now(), .offset = -1});
}

bool capture_begin(void) {
  _Atomic int* state = capture_state;
  int expected = CAPTURE_NOT_BEGUN;
  if (!atomic_compare_exchange_strong(state, &expected, CAPTURE_BEGINNING)) return expected == CAPTURE_ON;
  const int saved_errno = errno;
  bool is_on = atomic_load(&stopped) == 0;
  if (!is_on) {  // makes no system call at all
  } else if (atomic_load(&recorded_process) == 0) {
    atomic_store(&recorded_process, (int)RAW0(SYS_getpid));
    is_on = begin_recording();
  } else {
    atomic_store(&recorded_process, (int)RAW0(SYS_getpid));
    continue_after_fork();
  }
  atomic_store(capture_state, is_on ? CAPTURE_ON : CAPTURE_OFF);
  errno = saved_errno;
  return is_on;
}

void capture_end(void) {
  if (!capture_should_record(0) || capture_in_borrowed_memory()) return;
  const int id = capture_process();
  if (atomic_exchange(&ended_process, id) == id) return;
  aio_end();
  uring_end();
  account_compare();
  put_event((struct plait_event){
      .kind = PLAIT_EVENT_EXIT, .interface = PLAIT_INTERFACE_UNKNOWN, .start = plait_events_now(), .offset = -1});
  plait_events_end();
  atomic_store(capture_state, CAPTURE_OFF);
}

void capture_stop(void) {
  if (!capture_should_record(0) || capture_in_borrowed_memory()) return;
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
