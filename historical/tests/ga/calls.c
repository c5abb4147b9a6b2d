/* Calls every function of Shared Files from C; around.c has the functions that belong to Global Arrays.
 * docs/reference/sf.md lists the codes of errors, such as -1981; the first handle is -3000. */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sf.h"

void pbeginf_(void);
void pend_(void);
void ga_initialize_(void);
void ga_sync_(void);

static int rank;
static int ranks;

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "rank %d, line %d: %s does not hold\n", rank, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
    }                                                                                      \
  } while (0)

#define EXPECT_CODE(call, expected)                                                                  \
  do {                                                                                               \
    const int found_code = (call);                                                                   \
    if (found_code != (expected)) {                                                                  \
      char text[SF_ERRMSG_SIZE];                                                                     \
      SF_Errmsg(found_code, text);                                                                   \
      fprintf(stderr, "rank %d, line %d: %s is %d (%s)\n", rank, __LINE__, #call, found_code, text); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                  \
    }                                                                                                \
  } while (0)

#define EXPECT_OK(call) EXPECT_CODE(call, 0)

/* Returns the message of the last error with a code; checks that SF_Errmsg writes at most SF_ERRMSG_SIZE bytes. */
static const char* message(int code) {
  static char text[SF_ERRMSG_SIZE + 8];
  memset(text, 'x', sizeof text);
  SF_Errmsg(code, text);
  EXPECT(memchr(text, 0, SF_ERRMSG_SIZE) != NULL);
  for (size_t i = SF_ERRMSG_SIZE; i < sizeof text; ++i) EXPECT(text[i] == 'x');
  return text;
}

#define EXPECT_MESSAGE(call, expected, part)                                                        \
  do {                                                                                              \
    EXPECT_CODE(call, expected);                                                                    \
    if (strstr(message(expected), part) == NULL) {                                                  \
      fprintf(stderr, "rank %d, line %d: %s says: %s\n", rank, __LINE__, #call, message(expected)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                 \
    }                                                                                               \
  } while (0)

static int access_and_wait(int write, int handle, double offset, double bytes, void* buffer) {
  int id = 5;
  const int code = write ? SF_Write(handle, offset, bytes, buffer, &id) : SF_Read(handle, offset, bytes, buffer, &id);
  if (code != 0) {
    EXPECT(id == -1);
    return code;
  }
  const int wait_code = SF_Wait(&id);
  EXPECT(id == -1);
  return wait_code;
}

static int write_now(int handle, double offset, double bytes, void* buffer) {
  return access_and_wait(1, handle, offset, bytes, buffer);
}
static int read_now(int handle, double offset, double bytes, void* buffer) {
  return access_and_wait(0, handle, offset, bytes, buffer);
}

/* Writes pieces of various lengths, distributed over the ranks in turn.  The value of a byte depends on its offset and
 * on the round that wrote it. */
enum { BYTES = 700001 };
static unsigned char expected_byte(int64_t offset, int round) {
  return (unsigned char)((offset * 31 + offset / 251 + round * 101) & 255);
}

static void test_pieces(void) {
  unsigned char* written = malloc(BYTES);
  unsigned char* read_back = malloc(BYTES);
  int ids[64];
  int handle = 0;
  EXPECT(written != NULL && read_back != NULL);
  EXPECT_OK(SF_Create("pieces", BYTES, BYTES, 10000, &handle));
  EXPECT(handle == -3000);
  for (int round = 0; round < 3; ++round) {
    int used = 0;
    int piece = 0;
    int64_t length = 1;
    for (int64_t offset = 0; offset < BYTES; offset += length, ++piece) {
      length = (offset * 7919 + 13) % 30000 + 1;
      if (length > BYTES - offset) length = BYTES - offset;
      if ((piece + round) % ranks != rank) continue;
      for (int64_t i = offset; i < offset + length; ++i) written[i] = expected_byte(i, round);
      if (used == 64) {
        EXPECT_OK(SF_Waitall(ids, used));
        used = 0;
      }
      EXPECT_OK(SF_Write(handle, (double)offset, (double)length, written + offset, &ids[used++]));
      EXPECT(ids[used - 1] >= 0);
    }
    EXPECT_OK(SF_Waitall(ids, used));
    for (int i = 0; i < used; ++i) EXPECT(ids[i] == -1);
    EXPECT_OK(SF_Waitall(ids, used));
    ga_sync_();
    EXPECT_OK(read_now(handle, 0, BYTES, read_back));
    int wrong = 0;
    for (int64_t i = 0; i < BYTES; ++i) wrong += read_back[i] != expected_byte(i, round);
    EXPECT(wrong == 0);
    EXPECT_OK(SF_Fsync(handle));
    ga_sync_();
  }
  EXPECT_OK(SF_Destroy(handle));
  free(written);
  free(read_back);
}

static void test_handles(void) {
  int first = 0;
  int second = 0;
  int third = 0;
  int read_back = 0;
  int number = 4711 + rank;
  EXPECT_OK(SF_Create("a", -1, -1, -1, &first));
  EXPECT_OK(SF_Create("a", 0, 0, 0, &second));
  EXPECT_OK(SF_Create_suffix("a", 1e300, 1.5, 1e5 / 3, &third, 77));
  EXPECT(first == -3000 && second == -2999 && third == -2998);
  EXPECT_OK(write_now(first, 4 * rank, 4, &number));
  EXPECT_OK(SF_Destroy(second));
  EXPECT_OK(SF_Create("b", -1, -1, -1, &second));
  EXPECT(second == -2999);
  EXPECT_OK(read_now(first, 4 * rank, 4, &read_back));
  EXPECT(read_back == number);
  EXPECT_MESSAGE(SF_Create_suffix("a", -1, -1, -1, &read_back, 0), 1, "exists already");
  EXPECT_OK(SF_Destroy(first));
  EXPECT_OK(SF_Destroy(third));
  EXPECT_OK(SF_Destroy(second));
  EXPECT_MESSAGE(SF_Destroy(second), 1, "handle -2999");
}

static void test_open_and_closed_files(void) {
  int handle = 0;
  int id = 0;
  char text[8] = "written";
  char read_back[8] = "";
  EXPECT_OK(SF_Create("open", -1, -1, -1, &handle));
  EXPECT_OK(write_now(handle, 8 * rank, 8, text));
  EXPECT_OK(SF_Write(handle, 8 * rank, 8, text, &id));
  EXPECT_OK(SF_Rwtor(handle));
  EXPECT_OK(SF_Wait(&id));
  EXPECT_MESSAGE(write_now(handle, 0, 8, text), -1993, "SF_Open");
  EXPECT_OK(read_now(handle, 8 * rank, 8, read_back));
  EXPECT(strcmp(read_back, text) == 0);
  EXPECT_OK(SF_Close(handle));
  EXPECT_MESSAGE(read_now(handle, 0, 8, read_back), 1, "is closed");
  EXPECT_CODE(SF_Close(handle), 1);
  EXPECT_CODE(SF_Fsync(handle), 1);
  EXPECT_OK(SF_Open(handle));
  EXPECT_OK(SF_Open(handle));
  EXPECT_OK(write_now(handle, 8 * rank, 8, text));
  EXPECT_OK(SF_Close(handle));
  EXPECT_OK(SF_Destroy(handle));
  EXPECT_MESSAGE(SF_Open(handle), 1, "does not belong to a shared file");
}

static void test_mistakes(void) {
  int handle = 0;
  int id = 3;
  int ids[3];
  char bytes[100] = "";
  const int last = rank == ranks - 1;
  char* name = malloc(5001);
  EXPECT(name != NULL);
  memset(name, 'n', 5000);
  name[5000] = 0;
  EXPECT_MESSAGE(SF_Create(last ? NULL : "x", -1, -1, -1, &handle), 1, "name of the file is empty");
  EXPECT_MESSAGE(SF_Create("x", -1, -1, -1, last ? NULL : &handle), 1, "is empty");
  EXPECT_MESSAGE(SF_Create("x", -1, last ? (double)NAN : -1, -1, &handle), -1981, "the soft limit nan");
  EXPECT_CODE(SF_Create("none/x", -1, -1, -1, &handle), -1990);
  EXPECT_CODE(SF_Create(name, -1, -1, -1, &handle), -1983);
  if (ranks > 1) EXPECT_CODE(SF_Create(last ? "x" : "y", -1, -1, -1, &handle), 1);
  EXPECT_OK(SF_Create("mistakes", 100 + 100 * ranks, -1, -1, &handle));
  EXPECT(handle == -3000);
  EXPECT_OK(write_now(handle, 100 * rank, 100, bytes));
  ga_sync_();
  EXPECT_MESSAGE(write_now(handle, 0.5, 100, bytes), -1981, "offset 0.5");
  EXPECT_MESSAGE(write_now(handle, -1, 100, bytes), -1981, "offset -1");
  EXPECT_MESSAGE(read_now(handle, 0, -8, bytes), -1981, "bytes -8");
  EXPECT_MESSAGE(read_now(handle, 9007199254740994.0, 8, bytes), -1981, "9007199254740994");
  EXPECT_MESSAGE(read_now(handle, NAN, 8, bytes), -1981, "nan");
  EXPECT_MESSAGE(read_now(handle, INFINITY, 8, bytes), -1981, "inf");
  EXPECT_MESSAGE(read_now(handle, 0, 8, NULL), 1, "no buffer");
  EXPECT_MESSAGE(SF_Read(handle, 0, 8, bytes, NULL), 1, "req_id is NULL");
  EXPECT_MESSAGE(SF_Write(handle, 0, 8, bytes, NULL), 1, "req_id is NULL");
  EXPECT_CODE(write_now(handle, 100 * ranks + 1, 100, bytes), 1);
  EXPECT_CODE(write_now(handle, 1e15, 1, bytes), 1);
  EXPECT_OK(write_now(handle, 0, 0, NULL));
  EXPECT_CODE(read_now(handle, 100 * ranks - 50, 100, bytes), -1977);
  EXPECT_MESSAGE(read_now(17, 0, 8, bytes), 1, "the handle 17");
  EXPECT_CODE(read_now(-2999, 0, 8, bytes), 1);
  id = 12345678;
  EXPECT_MESSAGE(SF_Wait(&id), -1994, "request 12345678");
  EXPECT(id == -1);
  id = -7;
  EXPECT_CODE(SF_Wait(&id), -1994);
  EXPECT_CODE(SF_Wait(NULL), 1);
  EXPECT_OK(SF_Waitall(NULL, 0));
  EXPECT_CODE(SF_Waitall(NULL, 1), 1);
  EXPECT_CODE(SF_Waitall(ids, -1), 1);
  /* If one of several requests fails, the others are completed. */
  EXPECT_OK(SF_Read(handle, 0, 100, bytes, &ids[0]));
  ids[1] = 99999999;
  EXPECT_OK(SF_Read(handle, 0, 10, bytes, &ids[2]));
  EXPECT_MESSAGE(SF_Waitall(ids, 3), 1, "request 99999999");
  EXPECT(ids[0] == -1 && ids[1] == -1 && ids[2] == -1);
  /* A request can be waited for only once. */
  EXPECT_OK(SF_Read(handle, 0, 10, bytes, &id));
  ids[0] = id;
  EXPECT_OK(SF_Wait(&id));
  EXPECT_CODE(SF_Wait(&ids[0]), -1994);
  if (ranks > 1) EXPECT_CODE(SF_Destroy(last ? 5 : handle), 1);
  EXPECT_OK(SF_Destroy(handle));
  EXPECT(strcmp(message(0), "no error") == 0);
  EXPECT(strlen(message(-1978)) > 0);
  EXPECT(strstr(message(-44), "-44") != NULL);
  SF_Errmsg(1, NULL);
  free(name);
}

/* A request may be waited for after its file is destroyed. */
static void test_late_wait(void) {
  static char bytes[1000000];
  int handle = 0;
  int id = 0;
  EXPECT_OK(SF_Create("late", -1, -1, -1, &handle));
  EXPECT_OK(SF_Write(handle, 1e6 * rank, sizeof bytes, bytes, &id));
  EXPECT_OK(SF_Destroy(handle));
  EXPECT_OK(SF_Wait(&id));
}

enum { THREADS = 4, COUNT = 20000 };
static int thread_file;

static void* access_from_thread(void* argument) {
  const int thread = *(const int*)argument;
  const double offset = (double)(rank * THREADS + thread) * COUNT * 4;
  int32_t* numbers = malloc(COUNT * 4);
  int32_t* read_back = malloc(COUNT * 4);
  EXPECT(numbers != NULL && read_back != NULL);
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < COUNT; ++i) numbers[i] = round + thread * 100 + i;
    EXPECT_OK(write_now(thread_file, offset, COUNT * 4, numbers));
    EXPECT_OK(read_now(thread_file, offset, COUNT * 4, read_back));
    EXPECT(memcmp(numbers, read_back, COUNT * 4) == 0);
    /* Each thread has its own last error. */
    char expected[32];
    snprintf(expected, sizeof expected, "the handle %d", thread);
    EXPECT_CODE(SF_Fsync(thread), 1);
    char text[SF_ERRMSG_SIZE];
    SF_Errmsg(1, text);
    EXPECT(strncmp(text, expected, strlen(expected)) == 0);
  }
  free(numbers);
  free(read_back);
  return NULL;
}

static void test_threads(void) {
  pthread_t started[THREADS];
  int numbers[THREADS];
  EXPECT_OK(SF_Create("threads", -1, -1, -1, &thread_file));
  for (int i = 0; i < THREADS; ++i) {
    numbers[i] = i;
    EXPECT(pthread_create(&started[i], NULL, access_from_thread, &numbers[i]) == 0);
  }
  for (int i = 0; i < THREADS; ++i) EXPECT(pthread_join(started[i], NULL) == 0);
  EXPECT_OK(SF_Destroy(thread_file));
}

int main(void) {
  pbeginf_();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ga_initialize_();
  test_pieces();
  test_handles();
  test_open_and_closed_files();
  test_mistakes();
  test_late_wait();
  test_threads();
  /* A file that is not destroyed is discarded at the end of the program. */
  int left = 0;
  EXPECT_OK(SF_Create("left", -1, -1, -1, &left));
  EXPECT_OK(write_now(left, rank, sizeof left, &left));
  ga_sync_(); /* The end of another process would end this access. */
  pend_();
  EXPECT_CODE(SF_Create("late", -1, -1, -1, &left), -1990);
  return 0;
}
