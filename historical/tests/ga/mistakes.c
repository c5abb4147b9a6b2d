/* Calls every function of Shared Files with invalid arguments, on all processes or on one process.  The call must
 * return an error code on all processes within 5 s, and the next call must work. */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sf.h"

void pbeginf_(void);
void pend_(void);

static int rank;
static int ranks;
static volatile int call_line;

static void on_timeout(int signal_number) {
  (void)signal_number;
  fprintf(stderr, "rank %d: the call of line %d has not returned within 5 s\n", rank, call_line);
  _exit(9);
}

#define CALL(call) (call_line = __LINE__, alarm(5), call)

static void expect(int holds, const char* what, int source_line) {
  if (holds) return;
  fprintf(stderr, "rank %d, line %d: %s\n", rank, source_line, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

static const double numbers[] = {-1.0, -1e300, 0.5, 1e300, 9007199254740994.0, 0.0, 7.0};
enum { NUMBERS = sizeof numbers / sizeof *numbers };
static double tested_number(int i) {
  return i < NUMBERS ? numbers[i] : i == NUMBERS ? NAN : i == NUMBERS + 1 ? INFINITY : -INFINITY;
}
enum { ALL_NUMBERS = NUMBERS + 3 };

static const int handles[] = {-1, 0, 5, 2999, 3000, -2999, -3001, -3512, INT_MAX, INT_MIN};
enum { HANDLES = sizeof handles / sizeof *handles };

/* Returns the code of a collective call, after checking that it failed on all processes or on none. */
static int agreed_code(int code) {
  int min = 0;
  int max = 0;
  alarm(0);
  MPI_Allreduce(&code, &min, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&code, &max, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect((min == 0) == (max == 0), "a collective call failed on some processes only", call_line);
  return code;
}

static void expect_same_outcome(const char* name, double hard, double soft, double request) {
  int handle = 77;
  if (agreed_code(CALL(SF_Create(name, hard, soft, request, &handle))) == 0)
    EXPECT(agreed_code(CALL(SF_Destroy(handle))) == 0);
  if (agreed_code(CALL(SF_Create_suffix(name, hard, soft, request, &handle, -5))) == 0)
    EXPECT(agreed_code(CALL(SF_Destroy(handle))) == 0);
}

static void test_invalid_files(const char* longest) {
  const char* const names[] = {NULL, "", "no/such/folder/x", "\xff\xfe", "a\nb", longest};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    expect_same_outcome(names[i], 0, 0, 0);
    if (ranks > 1) expect_same_outcome(rank == 1 ? names[i] : "good", 0, 0, 0);
  }
  for (int i = 0; i < ALL_NUMBERS; ++i)
    for (int which = 0; which < 3; ++which) {
      const double value = tested_number(i);
      expect_same_outcome("odd", which == 0 ? value : 0, which == 1 ? value : 0, which == 2 ? value : 0);
      const double on_rank_1 = rank == 1 ? value : 0;
      if (ranks > 1)
        expect_same_outcome("odd", which == 0 ? on_rank_1 : 0, which == 1 ? on_rank_1 : 0, which == 2 ? on_rank_1 : 0);
    }
  EXPECT(agreed_code(CALL(SF_Create("x", 0, 0, 0, NULL))) != 0);
  for (int i = 0; i < HANDLES; ++i) {
    EXPECT(agreed_code(CALL(SF_Destroy(handles[i]))) != 0);
    EXPECT(CALL(SF_Close(handles[i])) != 0);
    EXPECT(CALL(SF_Open(handles[i])) != 0);
    EXPECT(CALL(SF_Rwtor(handles[i])) != 0);
    EXPECT(CALL(SF_Fsync(handles[i])) != 0);
  }
}

static void test_invalid_accesses(void) {
  char buffer[64] = {0};
  int handle = 0;
  int id = 0;
  EXPECT(agreed_code(CALL(SF_Create("moved", 64, 0, 0, &handle))) == 0);
  for (int i = 0; i < ALL_NUMBERS; ++i) {
    const double value = tested_number(i);
    const int fits = value == 0 || value == 7;
    EXPECT(fits || CALL(SF_Write(handle, value, 1, buffer, &id)) != 0);
    EXPECT(fits || CALL(SF_Write(handle, 0, value, buffer, &id)) != 0);
    EXPECT(fits || value > 64 || CALL(SF_Read(handle, value, 1, buffer, &id)) != 0);
    EXPECT(fits || value > 64 || CALL(SF_Read(handle, 0, value, buffer, &id)) != 0);
  }
  EXPECT(CALL(SF_Write(handle, 0, 8, NULL, &id)) != 0);
  EXPECT(CALL(SF_Read(handle, 0, 8, NULL, &id)) != 0);
  EXPECT(CALL(SF_Write(handle, 0, 8, buffer, NULL)) != 0);
  EXPECT(CALL(SF_Wait(NULL)) != 0);
  EXPECT(CALL(SF_Waitall(NULL, 3)) != 0);
  EXPECT(CALL(SF_Waitall(&id, -1)) != 0);
  for (int i = 0; i < HANDLES; ++i) {
    int ids[2] = {handles[i], handles[i]};
    if (handles[i] == handle) continue;
    EXPECT(CALL(SF_Write(handles[i], 0, 8, buffer, &id)) != 0);
    EXPECT(CALL(SF_Read(handles[i], 0, 8, buffer, &id)) != 0);
    if (handles[i] == -1) continue; /* as a request it means that there is none */
    EXPECT(CALL(SF_Wait(ids)) != 0);
    ids[0] = handles[i];
    EXPECT(CALL(SF_Waitall(ids, 2)) != 0);
  }
  for (int code = -3; code < 200; code += 7) {
    char text[SF_ERRMSG_SIZE];
    SF_Errmsg(code, text);
  }
  /* The file still works. */
  EXPECT(CALL(SF_Write(handle, 0, 8, buffer, &id)) == 0);
  EXPECT(CALL(SF_Wait(&id)) == 0);
  EXPECT(agreed_code(CALL(SF_Destroy(handle))) == 0);
  EXPECT(CALL(SF_Write(handle, 0, 8, buffer, &id)) != 0);
}

int main(void) {
  static char longest[6001];
  signal(SIGALRM, on_timeout);
  memset(longest, 'a', sizeof longest - 1);
  pbeginf_();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  test_invalid_files(longest);
  test_invalid_accesses();
  alarm(0);
  pend_();
  return 0;
}
