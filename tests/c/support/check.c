/* The test runner for C: checks, time limits, the report, and a temporary folder. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static long failures_of_one_process(long failures) { return failures; }

long (*failures_everywhere)(long failures) = failures_of_one_process;
int process_rank = 0;
char scratch_folder[256];

enum { SECONDS_PER_CASE = 90, MAX_PRINTED_FAILURES = 20 };

static long failures;

/* Counts a failed check, and prints the first ones. */
static void report_failure(const char* file, int line, const char* format, ...) {
  va_list values;
  ++failures;
  if (failures > MAX_PRINTED_FAILURES) return;
  fprintf(stderr, "rank %d: %s:%d: ", process_rank, file, line);
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
}

void check_that(bool holds, const char* file, int line, const char* text) {
  if (!holds) report_failure(file, line, "does not hold: %s", text);
}

void check_equal(long long found, long long expected, const char* file, int line, const char* text) {
  if (found != expected) report_failure(file, line, "%s: found %lld, expected %lld", text, found, expected);
}

void check_contains(const char* text, const char* part, const char* file, int line) {
  if (strstr(text, part) == NULL) report_failure(file, line, "\"%s\" does not say \"%s\"", text, part);
}

void check_status(int status, int expected, const char* message, const char* file, int line, const char* text) {
  if (status != expected)
    report_failure(file, line, "%s returns %d, expected %d: %s", text, status, expected, status != 0 ? message : "");
}

/* Returns the rest of the argument that begins with `name`; NULL if there is none. */
static const char* find_argument(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], name, strlen(name)) == 0) return argv[i] + strlen(name);
  return NULL;
}

static const char* current_case = "";

/* A signal handler that ends the program, and thereby its job, if a rank waits forever. */
static void end_after_timeout(int signal_number) {
  (void)signal_number;
  const char text[] = " took too long\n";
  if (write(2, current_case, strlen(current_case)) < 0 || write(2, text, sizeof text - 1) < 0) _exit(2);
  _exit(1);
}

/* Writes the report at the end, so that the file is complete or missing. */
static void write_report(const char* name, const struct test_case* cases, const long* results, size_t count) {
  FILE* report = fopen(name, "w");
  if (report == NULL) {
    perror(name);
    return;
  }
  fputs("<testsuite name=\"C\">\n", report);
  for (size_t i = 0; i < count; ++i) {
    if (results[i] < 0) continue;
    fprintf(report, "<testcase classname=\"C\" name=\"%s\">", cases[i].name);
    if (results[i] > 0) fprintf(report, "<failure message=\"%ld checks failed\"/>", results[i]);
    fputs("</testcase>\n", report);
  }
  fputs("</testsuite>\n", report);
  fclose(report);
}

int run_cases(const struct test_case* cases, size_t count, int argc, char** argv) {
  const char* prefix = find_argument(argc, argv, "--only=");
  const char* report = find_argument(argc, argv, "--report=");
  long* results = allocate(count * sizeof *results); /* numbers of failed checks; negative: not run */
  int failed = 0;
  size_t ran = 0;
  signal(SIGALRM, end_after_timeout);
  for (size_t i = 0; i < count; ++i) {
    results[i] = -1;
    if (prefix != NULL && strncmp(cases[i].name, prefix, strlen(prefix)) != 0) continue;
    current_case = cases[i].name;
    failures = 0;
    alarm(SECONDS_PER_CASE);
    cases[i].body();
    results[i] = failures_everywhere(failures);
    ++ran;
    if (results[i] == 0) continue;
    ++failed;
    if (process_rank == 0) fprintf(stderr, "%s: %ld checks failed\n", cases[i].name, results[i]);
  }
  alarm(0);
  if (report != NULL && process_rank == 0) write_report(report, cases, results, count);
  if (process_rank == 0) printf("%zu cases, %d failed\n", ran, failed);
  free(results);
  return failed > 0 || ran == 0;
}

void make_scratch(void) {
  const char* folder = getenv("TMPDIR");
  snprintf(scratch_folder, sizeof scratch_folder, "%s/plait-c-XXXXXX", folder != NULL ? folder : "/tmp");
  if (mkdtemp(scratch_folder) == NULL) {
    perror(scratch_folder);
    exit(1);
  }
}

static int remove_one(const char* path, const struct stat* status, int kind, struct FTW* where) {
  (void)status;
  (void)kind;
  (void)where;
  return remove(path);
}

void remove_scratch(void) { nftw(scratch_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

const char* scratch(const char* name) {
  static char paths[8][512];
  static int next;
  char* path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
  return path;
}

void* allocate(size_t bytes) {
  void* memory = calloc(bytes == 0 ? 1 : bytes, 1);
  if (memory == NULL) {
    perror("no memory for a test");
    exit(1);
  }
  return memory;
}
