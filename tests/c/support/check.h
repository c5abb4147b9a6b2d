/* A small test runner for C: cases that check on, and a JUnit report. */
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

/* Where several processes run the tests together: the number of failures on all of them. */
extern long (*failures_everywhere)(long mine);
extern int process_rank;

/* Runs the cases whose names begin with --only=; writes --report=.  Returns main's status. */
int run_cases(const struct test_case* cases, size_t count, int argc, char** argv);

void check_that(bool holds, const char* file, int line, const char* text);
void check_equal(long long found, long long expected, const char* file, int line, const char* text);
void check_contains(const char* text, const char* part, const char* file, int line);
/* Keeps the message of a call's failure to be shown. */
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
/* The call fails so, with these words in its message. */
#define CHECK_FAILS(call, status, words)                              \
  do {                                                                \
    CHECK_STATUS(call, status);                                       \
    check_contains(plait_message(NULL), (words), __FILE__, __LINE__); \
  } while (0)

/* A folder that goes with the process; a name in it, good until the eighth next call. */
extern char scratch_folder[256];
void make_scratch(void);
void remove_scratch(void);
const char* scratch(const char* name);

/* Memory that ends the program where there is none; zero at first. */
void* allocate(size_t bytes);

#endif
