#define _XOPEN_SOURCE 700
#include "check.h"

#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static long failures_alone(long mine) { return mine; }

long (*failures_everywhere)(long mine) = failures_alone;
int process_rank = 0;
char scratch_folder[256];

enum { SECONDS_A_CASE = 90 };

static long failures;

static void complain(const char* file, int line, const char* format, ...) {
  va_list values;
  ++failures;
  if (failures > 20) return;
  fprintf(stderr, "rank %d: %s:%d: ", process_rank, file, line);
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
}

void check_that(bool holds, const char* file, int line, const char* text) {
  if (!holds) complain(file, line, "does not hold: %s", text);
}

void check_equal(long long found, long long expected, const char* file, int line, const char* text) {
  if (found != expected) complain(file, line, "%s: found %lld, expected %lld", text, found, expected);
}

void check_contains(const char* text, const char* part, const char* file, int line) {
  if (strstr(text, part) == NULL) complain(file, line, "\"%s\" does not say \"%s\"", text, part);
}

void check_status(int status, int expected, const char* message, const char* file, int line, const char* text) {
  if (status != expected)
    complain(file, line, "%s returns %d, expected %d: %s", text, status, expected, status != 0 ? message : "");
}

static const char* argument(int argc, char** argv, const char* name) {
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], name, strlen(name)) == 0) return argv[i] + strlen(name);
  return NULL;
}

static const char* running = "";

/* Ends a job of which a rank waits forever; the job has failed then. */
static void too_long(int signal_number) {
  (void)signal_number;
  const char words[] = " took too long\n";
  if (write(2, running, strlen(running)) < 0 || write(2, words, sizeof words - 1) < 0) _exit(2);
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
  const char* only = argument(argc, argv, "--only=");
  const char* report = argument(argc, argv, "--report=");
  long* results = allocate(count * sizeof *results); /* numbers of failed checks; negative: not run */
  int failed = 0;
  size_t ran = 0;
  signal(SIGALRM, too_long);
  for (size_t i = 0; i < count; ++i) {
    results[i] = -1;
    if (only != NULL && strncmp(cases[i].name, only, strlen(only)) != 0) continue;
    running = cases[i].name;
    failures = 0;
    alarm(SECONDS_A_CASE);
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
