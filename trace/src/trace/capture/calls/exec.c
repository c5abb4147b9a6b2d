/*
 * Calls that run another program in this process.
 *
 * A program is recorded if LD_PRELOAD in its environment names this library. If exec is called with another
 * environment, this library adds its variables again, unless the environment contains PLAIT_RECORD= without a value.
 * Programs that cannot be recorded are counted.
 *
 * Example: exec with {"PATH=/bin"} passes PATH, PLAIT_RECORD=TRACE, LD_PRELOAD=this library and PLAIT_RECORD_EXEC=
 * with the kernel's counters, from which the new program computes its differences.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/capture/calls.h"

#define RECORD "PLAIT_RECORD="
#define PRELOAD "LD_PRELOAD="
#define ASAN "ASAN_OPTIONS="
#define ASAN_LATER "verify_asan_link_order=0"
#define HANDED_OVER "PLAIT_RECORD_EXEC="

// True if the strings of an environment are readable; if not, the kernel fails the call.
static bool is_readable(char* const* environment) {
  for (; environment != NULL; ++environment) {
    char* entry;
    char first;
    if (!capture_peek(environment, &entry, sizeof entry)) return false;
    if (entry == NULL) return true;
    if (!capture_peek(entry, &first, 1)) return false;
  }
  return true;
}

// Returns the value of a variable; name: with its equals sign.
static const char* find_variable(char* const* environment, const char* name) {
  const size_t length = strlen(name);
  for (; environment != NULL && *environment != NULL; ++environment)
    if (strncmp(*environment, name, length) == 0) return *environment + length;
  return NULL;
}

// Returns the path of this library, as the loader knows it and LD_PRELOAD names it.
static const char* own_path(void) {
  static char path[4096];
  static _Atomic int is_set;
  if (atomic_load(&is_set) == 0) {
    Dl_info info;
    if (dladdr((void*)&own_path, &info) != 0 && info.dli_fname != NULL && strlen(info.dli_fname) < sizeof path)
      strcpy(path, info.dli_fname);
    atomic_store(&is_set, 1);
  }
  return path;
}

static size_t count_variables(char* const* environment) {
  size_t count = 0;
  while (environment != NULL && environment[count] != NULL) ++count;
  return count;
}

// The variables that are added to the caller's environment, or replace variables in it.
struct settings {
  char record[4200];
  char preload[8300];
  char asan[4200];
  char handed_over[160];
};

// True if a value of LD_PRELOAD contains the path of this library.
static bool names_this_library(const char* preload) {
  const char* library = own_path();
  return preload != NULL && strstr(preload, library) != NULL && *library != 0;
}

// True if a program with gcc's AddressSanitizer would start. The sanitizer requires to be the first library unless an
// option disables this.
static bool asan_accepts_preload(char* const* environment) {
  const char* options = find_variable(environment, ASAN);
  return options != NULL && strstr(options, "verify_asan_link_order") != NULL;
}

// Makes the environment in `entries`, which has capacity for count_variables(environment) + 5 entries.
static void fill_environment(char** entries, char* const* environment, struct settings* settings, bool handing_over) {
  const char* preload = find_variable(environment, PRELOAD);
  const bool keep_preload = names_this_library(preload);
  const char* asan = find_variable(environment, ASAN);
  const bool keep_asan = asan_accepts_preload(environment) || (asan != NULL && strlen(asan) > 4096);
  const bool keep_record = find_variable(environment, RECORD) != NULL;
  size_t count = 0;
  for (char* const* entry = environment; entry != NULL && *entry != NULL; ++entry) {
    if (strncmp(*entry, HANDED_OVER, strlen(HANDED_OVER)) == 0) continue;
    if (!keep_preload && strncmp(*entry, PRELOAD, strlen(PRELOAD)) == 0) continue;
    if (!keep_asan && strncmp(*entry, ASAN, strlen(ASAN)) == 0) continue;
    entries[count++] = *entry;
  }
  if (!keep_record) {
    strcpy(settings->record, RECORD);
    strcat(settings->record, capture_path);
    entries[count++] = settings->record;
  }
  if (!keep_preload) {
    strcpy(settings->preload, PRELOAD);
    strcat(settings->preload, own_path());
    if (preload != NULL && *preload != 0 && strlen(preload) < 4096) {
      strcat(settings->preload, ":");
      strcat(settings->preload, preload);
    }
    entries[count++] = settings->preload;
  }
  if (!keep_asan) {
    strcpy(settings->asan, ASAN ASAN_LATER);
    if (asan != NULL) strcat(strcat(settings->asan, ":"), asan);
    entries[count++] = settings->asan;
  }
  if (handing_over) {
    strcpy(settings->handed_over, HANDED_OVER);
    account_hand_over(settings->handed_over + strlen(HANDED_OVER), sizeof settings->handed_over - strlen(HANDED_OVER));
    entries[count++] = settings->handed_over;
  }
  entries[count] = NULL;
}

static long call_exec(int directory, const char* path, char* const* arguments, char* const* environment, int flags) {
  if (directory == AT_FDCWD && flags == 0) return RAW3(SYS_execve, path, arguments, environment);
  return RAW5(SYS_execveat, directory, path, arguments, environment, flags);
}

// Runs a program that records nothing, and counts it unless exec fails.
static long exec_unrecorded(int directory, const char* path, char* const* arguments, char* const* environment,
                            int flags, enum obstacle why) {
  program_count_unrecorded(directory, path, why, true);
  const long result = call_exec(directory, path, arguments, environment, flags);
  program_count_unrecorded(directory, path, why, false);
  return result;
}

// Writes LD_PRELOAD without this library, for a program whose loader may reject it.
static void write_preload_without_this_library(char* text, const char* preload) {
  char* end = stpcpy(text, PRELOAD);
  const char* own = own_path();
  while (*preload != 0) {
    const size_t length = strcspn(preload, ": ");
    if (length > 0 && (length != strlen(own) || strncmp(preload, own, length) != 0)) {
      if (end[-1] != '=') *end++ = ':';
      end = stpncpy(end, preload, length);
    }
    preload += length + (preload[length] != 0);
  }
  *end = 0;
}

// Returns the environment for a program whose loader may reject this library, in mapped memory; `environment` itself if
// it does not name this library.
static char* const* environment_without_this_library(char* const* environment) {
  const char* preload = find_variable(environment, PRELOAD);
  if (!names_this_library(preload)) return environment;
  const size_t count = count_variables(environment);
  const size_t bytes = (count + 1) * sizeof(char*) + strlen(preload) + sizeof PRELOAD;
  const long memory = RAW6(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if ((unsigned long)memory > -4096UL) return environment;
  char** entries = (char**)memory;
  char* text = (char*)(entries + count + 1);
  write_preload_without_this_library(text, preload);
  for (size_t i = 0; i <= count; ++i) entries[i] = environment[i];
  for (size_t i = 0; i < count; ++i)
    if (entries[i] + strlen(PRELOAD) == preload) entries[i] = text;
  return entries;
}

// Memory for a long environment comes from mmap, because the stack of a spawned child is small. A vfork child maps
// these pages in its parent's memory, where they remain after its exec, so the parent releases them.
enum { MAX_ON_STACK = 1000 };
static __thread void* borrowed_pages;
static __thread size_t borrowed_bytes;

void capture_release_borrowed(void) {
  if (borrowed_pages != NULL) RAW2(SYS_munmap, borrowed_pages, borrowed_bytes);
  borrowed_pages = NULL;
}

__attribute__((noinline)) static long exec_recorded(char** entries, struct settings* settings, int directory,
                                                    const char* path, char* const* arguments, char* const* environment,
                                                    int flags, bool handing_over) {
  fill_environment(entries, environment, settings, handing_over);
  return call_exec(directory, path, arguments, entries, flags);
}

long capture_execveat(int directory, const char* path, char* const* arguments, char* const* environment, int flags) {
  const bool borrowed = atomic_load(capture_state) == CAPTURE_ON && capture_in_borrowed_memory();
  if (!borrowed && !capture_should_record(0)) return call_exec(directory, path, arguments, environment, flags);
  // A search along PATH fails often; the kernel handles these cases.
  if (path == NULL || RAW4(SYS_faccessat, directory, path, X_OK, 0) != 0)
    if (!(flags & AT_EMPTY_PATH)) return call_exec(directory, path, arguments, environment, flags);
  if (environment != environ && !is_readable(environment))
    return call_exec(directory, path, arguments, environment, flags);
  const char* record = find_variable(environment, RECORD);
  const enum obstacle why = program_find_obstacle(directory, path, flags, record == NULL || *record != 0);
  if (why == OBSTACLE_LOADER) environment = environment_without_this_library(environment);
  if (borrowed && why != OBSTACLE_NONE) return exec_unrecorded(directory, path, arguments, environment, flags, why);
  if (borrowed && record != NULL && names_this_library(find_variable(environment, PRELOAD)) &&
      asan_accepts_preload(environment))
    return call_exec(directory, path, arguments, environment, flags);
  const struct description* program = *path == 0 ? table_find(directory) : NULL;
  const uint32_t file = borrowed ? 0 : program == NULL ? plait_events_name(path) : atomic_load(&program->file);
  if (!borrowed) {
    put_event((struct plait_event){.kind = PLAIT_EVENT_EXEC,
                                   .interface = PLAIT_INTERFACE_POSIX,
                                   .file = file,
                                   .start = plait_events_now(),
                                   .offset = -1});
    aio_end();
    uring_end();
    account_compare();
  }
  long result;
  if (why != OBSTACLE_NONE) {
    plait_events_replaced(1);  // this process records nothing more
    result = exec_unrecorded(directory, path, arguments, environment, flags, why);
    plait_events_replaced(0);
  } else {
    const size_t count = count_variables(environment) + 5;
    const size_t bytes = (count <= MAX_ON_STACK ? 0 : count * sizeof(char*)) + sizeof(struct settings);
    const long memory = RAW6(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((unsigned long)memory > -4096UL) return call_exec(directory, path, arguments, environment, flags);
    struct settings* settings = (struct settings*)memory;
    char** entries = count <= MAX_ON_STACK ? alloca(count * sizeof(char*)) : (char**)(settings + 1);
    if (borrowed) {
      borrowed_pages = settings;
      borrowed_bytes = bytes;
    }
    result = exec_recorded(entries, settings, directory, path, arguments, environment, flags, !borrowed);
    borrowed_pages = NULL;
    RAW2(SYS_munmap, memory, bytes);
  }
  if (!borrowed)
    put_event((struct plait_event){.kind = PLAIT_EVENT_EXEC,
                                   .interface = PLAIT_INTERFACE_POSIX,
                                   .file = file,
                                   .start = plait_events_now(),
                                   .offset = -1,
                                   .result = result});
  return result;
}

// The next library may run another program than the caller requested.  It does so by the C library's functions, which
// lead back to this file, so that the call is recorded there.
#define RUN(ARGUMENTS, DIRECTORY, PATH, ENVIRONMENT, FLAGS)          \
  if (next != CHAIN_END) return (int)chain_forward(next, ARGUMENTS); \
  return (int)c_result(capture_execveat(DIRECTORY, PATH, arguments, ENVIRONMENT, FLAGS));

BOTH(int, execve, (const char* path, char* const arguments[], char* const environment[]),
     RUN(ARGUMENTS((long)path, (long)arguments, (long)environment), AT_FDCWD, path, environment, 0))
BOTH(int, execveat, (int directory, const char* path, char* const arguments[], char* const environment[], int flags),
     RUN(ARGUMENTS(directory, (long)path, (long)arguments, (long)environment, flags), directory, path, environment,
         flags))
BOTH(int, fexecve, (int program, char* const arguments[], char* const environment[]),
     RUN(ARGUMENTS(program, (long)arguments, (long)environment), program, "", environment, AT_EMPTY_PATH))
CHAINED(int, execv, (const char* path, char* const arguments[]),
        RUN(ARGUMENTS((long)path, (long)arguments), AT_FDCWD, path, environ, 0))
