/* A small test runner for C.  A failed check does not end its case.  The runner writes a JUnit report. */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct test_case {
  const char* name;
  void (*body)(void);
};

/* Returns the sum of the failures of all processes that run the tests together.  The default is for one process. */
extern long (*failures_everywhere)(long failures);
extern int process_rank;

/* Runs the cases whose names begin with the value of --only=, and writes a report to the file --report=.  Returns the
 * exit status of main(). */
int run_cases(const struct test_case* cases, size_t count, int argc, char** argv);

/* Each check below prints its position and its text if it fails. */
void check_that(bool holds, const char* file, int line, const char* text);
void check_equal(long long found, long long expected, const char* file, int line, const char* text);
void check_contains(const char* text, const char* part, const char* file, int line);
/* Checks the status of a call; if it is another one than expected, prints the call's message too. */
void check_status(int status, int expected, const char* message, const char* file, int line, const char* text);

#define CHECK(condition) check_that((condition), __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(found, expected) \
  check_equal((long long)(found), (long long)(expected), __FILE__, __LINE__, #found " == " #expected)
#define CHECK_CONTAINS(text, part) check_contains((text), (part), __FILE__, __LINE__)
#define CHECK_OK(call) CHECK_STATUS(call, PLAIT_OK)
#define CHECK_STATUS(call, expected)                                                          \
  do {                                                                                        \
    const int status_of_call = (call);                                                        \
    check_status(status_of_call, (expected), plait_message(NULL), __FILE__, __LINE__, #call); \
  } while (0)
/* Checks that a call fails with this status, and that its message contains these words. */
#define CHECK_FAILS(call, status, words)                              \
  do {                                                                \
    CHECK_STATUS(call, status);                                       \
    check_contains(plait_message(NULL), (words), __FILE__, __LINE__); \
  } while (0)

/* A temporary folder for the files of the tests.  scratch() returns the path of a name in it, which is valid until the
 * eighth call after this one. */
extern char scratch_folder[256];
void make_scratch(void);
void remove_scratch(void);
const char* scratch(const char* name);

/* Returns memory filled with zeros; ends the program if the allocation fails. */
void* allocate(size_t bytes);

#endif
