/*
 * Compares the kernel's counters of this process (/proc/self/io) with the recorded events.
 *
 * The kernel counts the bytes of read, write and similar calls, and of sendfile and copy_file_range, but neither
 * asynchronous requests (io_submit, io_uring) nor splice. Everything that it counted and no event contains is
 * reported as missed.
 *
 * Idea: each thread adds what it records to counters of its own, a slot. The number of missed bytes is the kernel's
 * counter - (settled + sum of all slots). `settled` counts what has been explained or reported: every report adds its
 * bytes to it, so that they are reported once.
 *
 * Example: at the exec the kernel has counted 5,000 bytes, which the loader read; settled becomes 5,000. The program
 * then reads 100 bytes through a recorded call and 30 bytes by an inlined system call. The kernel counts 5,130; 5,130
 * - (5,000 + 100) = 30 bytes are missed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/events/format.h"
#include "trace/capture/capture.h"
#include "trace/capture/threads.h"

struct account_slot account_slots[ACCOUNT_SLOTS];
__thread struct account_slot* account_own_slot;
_Static_assert(sizeof(struct account_slot) == sizeof(((struct plait_account*)NULL)->slots[0]), "one layout");

static _Atomic uint32_t slots_assigned;
// The kernel's counters when all slots were zero, plus everything reported as missed since then. The first slots are
// in the trace. They are in `local_account` before the process has memory in the trace, or if it has none.
static struct plait_account local_account;
static struct plait_account* account = &local_account;

static _Atomic int64_t* as_atomic(int64_t* sum) { return (_Atomic int64_t*)sum; }

static void add_settled(int sum, int64_t by) { atomic_fetch_add(as_atomic(&account->settled[sum]), by); }

static _Atomic uint64_t libraries_settled;  // number of loaded libraries whose bytes are in `settled`
// In the child of a fork another thread may have held the loader's lock, which is never released there. So the loader
// is not queried until the child itself calls dlopen, which needs the lock too.
static _Atomic int loader_may_be_locked;

static uint64_t libraries_loaded(void) {
  return atomic_load(&loader_may_be_locked) ? atomic_load(&libraries_settled) : elf_libraries_loaded();
}

struct account_slot* account_new_slot(void) {
  const uint32_t index = atomic_fetch_add_explicit(&slots_assigned, 1, memory_order_relaxed);
  if (index < PLAIT_ACCOUNT_SLOTS) {
    account_own_slot = (struct account_slot*)(void*)&account->slots[index];
    return account_own_slot;
  }
  atomic_fetch_or(as_atomic(&account->flags), PLAIT_ACCOUNT_THREADS);
  const uint32_t shared = ACCOUNT_OWNED + index % (ACCOUNT_SLOTS - ACCOUNT_OWNED);
  account_own_slot = &account_slots[index < ACCOUNT_OWNED ? index : shared];
  return account_own_slot;
}

void account_move_to_trace(void) {
  struct plait_account* stored = plait_events_account();
  if (stored == NULL) return;
  memcpy(stored, account, sizeof *stored);
  // The slot of this thread has moved into the trace as well.
  const uintptr_t slot = (uintptr_t)account_own_slot - (uintptr_t)account;
  if (account_own_slot != NULL && slot < sizeof *account)
    account_own_slot = (struct account_slot*)(void*)((char*)stored + slot);
  account = stored;
}

void account_mark_asynchronous(void) { atomic_fetch_or(as_atomic(&account->flags), PLAIT_ACCOUNT_ASYNCHRONOUS); }

long account_read_file(const char* path, char* text, size_t capacity) {
  const long fd = RAW4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return fd;
  const long length = RAW3(SYS_read, fd, text, capacity - 1);
  account_read(length);
  RAW1(SYS_close, fd);
  text[length > 0 ? length : 0] = 0;
  return length;
}

// Reads the number after the blanks at `text`, and advances `text` past it.
static int64_t parse_number(const char** text) {
  while (**text == ' ' || **text == ':') ++*text;
  int64_t number = 0;
  for (; **text >= '0' && **text <= '9'; ++*text) number = number * 10 + (**text - '0');
  return number;
}

// Reads the four counters of a process.  returns  the length of the text that contained them; 0: they are not
// available.
static size_t read_counters(const char* path, int64_t values[4]) {
  char text[512];
  if (account_read_file(path, text, sizeof text) <= 0) return 0;
  static const char* const names[] = {"rchar", "wchar", "syscr", "syscw"};
  for (int i = 0; i < 4; ++i) {
    const char* value = strstr(text, names[i]);
    if (value == NULL) return 0;
    value += strlen(names[i]);
    values[i] = parse_number(&value);
  }
  return strlen(text);
}

static bool read_kernel_counts(struct counts* counts) {
  int64_t values[4];
  const size_t length = read_counters("/proc/self/io", values);
  if (length == 0) return false;
  // Count the read of this text as the kernel does from now on.
  *counts = (struct counts){values[0] + (int64_t)length, values[1], values[2] + 1, values[3]};
  return true;
}

static void sum_recorded_counts(int64_t sums[4]) {
  for (int i = 0; i < 4; ++i) sums[i] = atomic_load(as_atomic(&account->settled[i]));
  for (int i = 0; i < PLAIT_ACCOUNT_SLOTS; ++i)
    for (int sum = 0; sum < 4; ++sum) sums[sum] += atomic_load(as_atomic(&account->slots[i].sums[sum]));
  for (int i = 0; i < ACCOUNT_SLOTS; ++i) {
    sums[0] += atomic_load_explicit(&account_slots[i].read_bytes, memory_order_relaxed);
    sums[1] += atomic_load_explicit(&account_slots[i].written_bytes, memory_order_relaxed);
    sums[2] += atomic_load_explicit(&account_slots[i].reads, memory_order_relaxed);
    sums[3] += atomic_load_explicit(&account_slots[i].writes, memory_order_relaxed);
  }
}

// Computes what the kernel counted and no event contains: bytes read, bytes written, reads and writes. A number of 0 or
// less means that nothing is missing.
static bool compute_missing(int64_t missing[4]) {
  struct counts counts;
  if (!read_kernel_counts(&counts)) return false;
  const int64_t kernel[4] = {counts.read_bytes, counts.written_bytes, counts.reads, counts.writes};
  // The kernel may have counted a call of another thread whose bytes are not in the sums yet, so this waits a little.
  for (int tries = 0;; ++tries) {
    int64_t sums[4];
    sum_recorded_counts(sums);
    bool is_any_missing = false;
    for (int i = 0; i < 4; ++i) {
      missing[i] = kernel[i] - sums[i];
      is_any_missing = is_any_missing || missing[i] > 0;
    }
    if (!is_any_missing || tries == 3 || surely_one_thread()) return true;
    const struct timespec pause = {0, 200000};
    RAW2(SYS_nanosleep, &pause, NULL);
  }
}

// Adds the missing counts to the settled ones, so that they are reported once.
static void add_missing(const int64_t missing[4]) {
  for (int i = 0; i < 4; ++i)
    if (missing[i] != 0) add_settled(i, missing[i]);
}

// Records bytes that the loader read as one event.
static void put_loader_event(int64_t bytes, int64_t start, const char* what) {
  if (bytes <= 0) return;
  put_event((struct plait_event){.kind = PLAIT_EVENT_READ,
                                 .interface = PLAIT_INTERFACE_LOADER,
                                 .file = plait_events_name(what),
                                 .start = start,
                                 .offset = -1,
                                 .length = bytes,
                                 .result = bytes});
}

// Reads the counters at the exec of this program, if the program before it was recorded; otherwise they are zero.
static void read_counters_at_exec(int64_t values[4]) {
  memset(values, 0, 4 * sizeof *values);
  for (char** entry = environ; entry != NULL && *entry != NULL; ++entry) {
    if (strncmp(*entry, "PLAIT_RECORD_EXEC=", 18) != 0) continue;
    const char* text = *entry + 18;
    if (parse_number(&text) != capture_process()) return;
    for (int i = 0; i < 4; ++i) values[i] = parse_number(&text);
  }
}

void account_start(void) {
  const int64_t start = plait_events_now();
  int64_t before[4];
  read_counters_at_exec(before);
  add_missing(before);
  int64_t missing[4];
  if (!compute_missing(missing)) return;
  libraries_settled = libraries_loaded();
  add_missing(missing);
  // exec and the loader read at most about 64 KiB plus 4 KiB for each library. Bytes beyond that were read by a program
  // that was not recorded.
  const int64_t max_loader_bytes = 65536 + 4096 * (int64_t)libraries_settled;
  const int64_t loaded = missing[0] < max_loader_bytes ? missing[0] : max_loader_bytes;
  put_loader_event(loaded, start, "loader:[exec]");
  if (missing[0] > max_loader_bytes || missing[1] > 0)
    plait_events_missed(PLAIT_MISSED_KERNEL, missing[3] > 0 ? missing[3] : 1, missing[0] - loaded,
                        missing[1] > 0 ? missing[1] : 0);
}

void account_reset_in_child(void) {
  for (int i = 0; i < ACCOUNT_SLOTS; ++i) {
    atomic_store(&account_slots[i].read_bytes, 0);
    atomic_store(&account_slots[i].written_bytes, 0);
    atomic_store(&account_slots[i].reads, 0);
    atomic_store(&account_slots[i].writes, 0);
  }
  memset(&local_account, 0, sizeof local_account);
  account = &local_account;
  account_own_slot = NULL;
  atomic_store(&slots_assigned, 0);
  atomic_store(&loader_may_be_locked, !surely_one_thread());
  atomic_store(&account_dlopen_called, 0);
}

// True if the loader may have read the missing bytes, because libraries were loaded since the last comparison. It reads
// at most 4096 bytes of each. Sets `libraries` to the number of all loaded libraries.
static bool is_from_loader(const int64_t missing[4], uint64_t* libraries) {
  *libraries = libraries_loaded();
  const int64_t loaded = (int64_t)(*libraries - atomic_load(&libraries_settled));
  return loaded > 0 && missing[0] > 0 && missing[0] <= 4096 * loaded && missing[1] <= 0;
}

// dlopen runs under its caller's return address, which it inspects, so its end is not visible here. The bytes that it
// read are noticed at the next call that opens a file, or at the end.
_Atomic int account_dlopen_called;

void account_record_loader(void) {
  atomic_store(&account_dlopen_called, 0);
  if (libraries_loaded() == atomic_load(&libraries_settled)) return;
  const int64_t start = plait_events_now();
  int64_t missing[4];
  uint64_t libraries;
  if (!compute_missing(missing) || !is_from_loader(missing, &libraries)) return;
  atomic_store(&libraries_settled, libraries);
  add_missing(missing);
  // Stored last: a kill before this only makes the comparison more tolerant.
  atomic_store(as_atomic(&account->loading), 0);
  put_loader_event(missing[0], start, "loader:[dlopen]");
}

// Called by dlopen and dlmopen (code/entries.S), which jump to the function that it returns.
__attribute__((used)) void* capture_before_dlopen(const char* name) {
  atomic_store(&account_dlopen_called, 1);
  atomic_fetch_add(as_atomic(&account->loading), 1);
  atomic_store(&loader_may_be_locked, 0);
  void* function = chain_function(name);
  if (function == NULL) function = libc_function(name, NULL);
  return function != NULL ? function : dlsym(RTLD_NEXT, name);
}

void account_compare(void) {
  const int64_t start = plait_events_now();
  int64_t missing[4];
  if (!compute_missing(missing)) return;
  // The C library loads libraries for itself (name services, character sets) without calling dlopen.
  uint64_t libraries;
  if (missing[0] > 0 && is_from_loader(missing, &libraries)) {
    atomic_store(&libraries_settled, libraries);
    put_loader_event(missing[0], start, "loader:[libraries]");
    add_missing(missing);
    return;
  }
  add_missing(missing);
  const int64_t read = missing[0] > 0 ? missing[0] : 0;
  const int64_t written = missing[1] > 0 ? missing[1] : 0;
  const int64_t calls = (missing[2] > 0 ? missing[2] : 0) + (missing[3] > 0 ? missing[3] : 0);
  if (read > 0 || written > 0) plait_events_missed(PLAIT_MISSED_KERNEL, calls, read, written);
}

static char* write_number(char* end, int64_t number) {
  char digits[24];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  *end++ = ' ';
  while (count > 0) *end++ = digits[--count];
  return end;
}

// Finds a field after the command in /proc/PID/stat; field 3 is the state.  NULL if there are fewer fields.
static const char* find_status_field(const char* status, int number) {
  const char* field_start = strrchr(status, ')');
  for (int field = 2; field_start != NULL && field < number; ++field) {
    field_start = strchr(field_start, ' ');
    if (field_start != NULL) ++field_start;
  }
  return field_start;
}

// Writes a name with the child and its kernel counters, because a killed child cannot make the comparison itself.
static void record_reaped_child(int child, int64_t started, const int64_t values[4]) {
  char name[sizeof PLAIT_REAPED + 6 * 24] = PLAIT_REAPED;
  char* end = write_number(name + strlen(name), child);
  end = write_number(end, started);
  for (int i = 0; i < 4; ++i) end = write_number(end, values[i]);
  *end = 0;
  (void)plait_events_name(name);
}

void account_subtract_child(int child) {
  char path[32] = "/proc/";
  char* end = write_number(path + strlen(path) - 1, child);
  path[strlen("/proc")] = '/';
  // A debugger waits for programs that are not its children, and their counters are not added to its own.
  char text[1024];
  strcpy(end, "/stat");
  if (account_read_file(path, text, sizeof text) <= 0) return;
  const char* parent = find_status_field(text, 4);
  const char* started = find_status_field(text, 22);
  if (parent == NULL || started == NULL || parse_number(&parent) != capture_process()) return;
  const int64_t child_start = parse_number(&started);
  strcpy(end, "/io");
  int64_t values[4];
  if (read_counters(path, values) == 0) return;
  add_missing(values);
  record_reaped_child(child, child_start, values);
}

void account_hand_over(char* text, size_t capacity) {
  struct counts counts;
  if (capacity < 5 * 24 || !read_kernel_counts(&counts)) {
    *text = 0;
    return;
  }
  char* end = write_number(text, capture_process());
  end = write_number(end, counts.read_bytes);
  end = write_number(end, counts.written_bytes);
  end = write_number(end, counts.reads);
  end = write_number(end, counts.writes);
  *end = 0;
}
