#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "together.h"

enum { COUNT = 50000, PARTS = 20 };

static const char* disk(int of) {
  char name[64];
  snprintf(name, sizeof name, "disk-%d", of);
  return scratch(name);
}

/* The value at position `i` of what rank `writer` writes to the disk of rank `server`. */
static int64_t value(int writer, int server, int64_t i) {
  return writer * INT64_C(1000003) + server * INT64_C(7919) + i;
}

void mpi_distant_everywhere(void) {
  plait_dio* dio = NULL;
  plait_request* request = NULL;
  plait_request* requests[PARTS] = {NULL};
  int64_t* mine = allocate(COUNT * sizeof *mine);
  int64_t* found = allocate(COUNT * sizeof *found);
  const int64_t bytes = (int64_t)(COUNT * sizeof *mine);
  int64_t size = 0;
  int done = 0;
  int server = 0;
  CHECK_OK(plait_dio_open(disk(rank), "w", everyone, NULL, &dio));
  CHECK_OK(plait_dio_owner(dio, &server));
  CHECK_EQUAL(server, -1);
  for (int at = 0; at < ranks; ++at) {
    for (int64_t i = 0; i < COUNT; ++i) mine[i] = value(rank, at, i);
    CHECK_OK(plait_dio_write(dio, rank * bytes, mine, bytes, at, &request));
    CHECK_OK(plait_dio_wait(&request));
    CHECK(request == NULL);
  }
  CHECK_OK(plait_dio_wait(&request));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int at = 0; at < ranks; ++at) {
    const int writer = (rank + at) % ranks;
    CHECK_OK(plait_dio_size(dio, at, &size));
    CHECK_EQUAL(size, bytes * ranks);
    memset(found, 0, (size_t)bytes);
    for (int part = 0; part < PARTS; ++part) {
      const int64_t from = bytes / PARTS * part;
      CHECK_OK(plait_dio_read(dio, writer * bytes + from, (char*)found + from, bytes / PARTS, at, &requests[part]));
    }
    CHECK_OK(plait_dio_test(requests[0], &done));
    CHECK_OK(plait_dio_waitall(requests, PARTS));
    for (int part = 0; part < PARTS; ++part) CHECK(requests[part] == NULL);
    int64_t wrong = 0;
    for (int64_t i = 0; i < COUNT; ++i) wrong += found[i] != value(writer, at, i);
    CHECK_EQUAL(wrong, 0);
    CHECK_OK(plait_dio_sync(dio, at, NULL));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_dio_resize(dio, 100, rank));
  CHECK_OK(plait_dio_size(dio, rank, &size));
  CHECK_EQUAL(size, 100);
  CHECK_OK(plait_dio_close(&dio));
  CHECK(dio == NULL);
  CHECK_OK(plait_dio_close(&dio));
  free(mine);
  free(found);
}

void mpi_distant_names(void) {
  plait_dio* none = NULL;
  plait_dio* mine = NULL;
  plait_dio* theirs = NULL;
  plait_dio_options options;
  char name[32];
  char text[32];
  int server = -2;
  const int other = (rank + 1) % ranks;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.temporary = 1;
  CHECK_OK(plait_dio_open(NULL, "r+", everyone, NULL, &none));
  snprintf(name, sizeof name, "file %d", rank);
  CHECK_OK(plait_dio_offer(name, disk(rank), "w", everyone, &options, &mine));
  CHECK_OK(plait_dio_write(mine, 0, name, sizeof name, rank, NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(name, sizeof name, "file %d", other);
  CHECK_OK(plait_dio_find(name, everyone, &theirs));
  CHECK_OK(plait_dio_owner(theirs, &server));
  CHECK_EQUAL(server, other);
  CHECK_OK(plait_dio_read(theirs, 0, text, sizeof text, other, NULL));
  CHECK(strcmp(text, name) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_dio_close(&mine));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_dio_close(&theirs));
  CHECK_FAILS(plait_dio_find(name, everyone, &theirs), PLAIT_ERROR_ARGUMENT, "no rank has offered");
  CHECK(theirs == NULL);
  CHECK_OK(plait_dio_close(&none));
}

void mpi_distant_mistakes(void) {
  plait_dio* dio = NULL;
  plait_request* requests[2] = {NULL, NULL};
  char bytes[100] = "";
  const int last = ranks - 1;
  ALL_FAIL(plait_dio_open(disk(rank), rank == last ? "a" : "w", everyone, NULL, &dio), PLAIT_ERROR_ARGUMENT,
           "mode \"a\" is not known");
  CHECK(dio == NULL);
  ALL_FAIL(plait_dio_open(rank == last ? scratch("none/x") : NULL, "r", everyone, NULL, &dio), PLAIT_ERROR_SYSTEM,
           "cannot open");
  CHECK_FAILS(plait_dio_open(NULL, "r", NULL, NULL, &dio), PLAIT_ERROR_ARGUMENT, "comm is NULL");
  CHECK_OK(plait_dio_open(disk(rank), "w", everyone, NULL, &dio));
  CHECK_OK(plait_dio_write(dio, 0, bytes, 100, rank, NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_FAILS(plait_dio_read(dio, 90, bytes, 20, last, NULL), PLAIT_ERROR_SYSTEM, "the file ends at 100");
  CHECK_CONTAINS(plait_message(dio), "the file ends at 100");
  CHECK_FAILS(plait_dio_read(dio, -1, bytes, 20, last, NULL), PLAIT_ERROR_ARGUMENT, "offset -1");
  CHECK_FAILS(plait_dio_read(dio, 0, bytes, 20, ranks, &requests[0]), PLAIT_ERROR_ARGUMENT, "has the ranks 0 to");
  CHECK(requests[0] == NULL);
  CHECK_FAILS(plait_dio_read(NULL, 0, bytes, 20, 0, NULL), PLAIT_ERROR_ARGUMENT, "handle is NULL");
  /* One of two requests fails: plait_dio_waitall returns its error, and the other one is complete. */
  CHECK_OK(plait_dio_read(dio, 5000, bytes, 20, last, &requests[0]));
  CHECK_OK(plait_dio_read(dio, 0, bytes, 100, last, &requests[1]));
  CHECK_FAILS(plait_dio_waitall(requests, 2), PLAIT_ERROR_SYSTEM, "the file ends at 100");
  CHECK(requests[0] == NULL && requests[1] == NULL);
  CHECK_FAILS(plait_dio_waitall(NULL, 1), PLAIT_ERROR_ARGUMENT, "requests is NULL");
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_dio_close(&dio));
}
