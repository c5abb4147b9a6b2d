/* Distant files: every rank accesses the disks of all ranks. */
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "together.h"

enum { COUNT = 50000, PARTS = 20 };

/* Returns the path of the file that stands for the disk of a rank. */
static const char* disk(int of_rank) {
  char name[64];
  snprintf(name, sizeof name, "disk-%d", of_rank);
  return scratch(name);
}

/* Returns element `i` of the array that rank `writer` writes to the disk of rank `server`. */
static int64_t value(int writer, int server, int64_t i) {
  return writer * INT64_C(1000003) + server * INT64_C(7919) + i;
}

void mpi_distant_everywhere(void) {
  plait_dio* dio = NULL;
  plait_request* request = NULL;
  plait_request* requests[PARTS] = {NULL};
  int64_t* written = allocate(COUNT * sizeof *written);
  int64_t* read_values = allocate(COUNT * sizeof *read_values);
  const int64_t bytes = (int64_t)(COUNT * sizeof *written);
  int64_t size = 0;
  int done = 0;
  int server = 0;
  CHECK_OK(plait_dio_open(disk(rank), "w", everyone, NULL, &dio));
  CHECK_OK(plait_dio_owner(dio, &server));
  CHECK_EQUAL(server, -1);
  for (int target = 0; target < ranks; ++target) {
    for (int64_t i = 0; i < COUNT; ++i) written[i] = value(rank, target, i);
    CHECK_OK(plait_dio_write(dio, rank * bytes, written, bytes, target, &request));
    CHECK_OK(plait_dio_wait(&request));
    CHECK(request == NULL);
  }
  CHECK_OK(plait_dio_wait(&request));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int target = 0; target < ranks; ++target) {
    const int writer = (rank + target) % ranks;
    CHECK_OK(plait_dio_size(dio, target, &size));
    CHECK_EQUAL(size, bytes * ranks);
    memset(read_values, 0, (size_t)bytes);
    for (int part = 0; part < PARTS; ++part) {
      const int64_t from = bytes / PARTS * part;
      CHECK_OK(plait_dio_read(dio, writer * bytes + from, (char*)read_values + from, bytes / PARTS, target,
                              &requests[part]));
    }
    CHECK_OK(plait_dio_test(requests[0], &done));
    CHECK_OK(plait_dio_waitall(requests, PARTS));
    for (int part = 0; part < PARTS; ++part) CHECK(requests[part] == NULL);
    int64_t wrong = 0;
    for (int64_t i = 0; i < COUNT; ++i) wrong += read_values[i] != value(writer, target, i);
    CHECK_EQUAL(wrong, 0);
    CHECK_OK(plait_dio_sync(dio, target, NULL));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_dio_resize(dio, 100, rank));
  CHECK_OK(plait_dio_size(dio, rank, &size));
  CHECK_EQUAL(size, 100);
  CHECK_OK(plait_dio_close(&dio));
  CHECK(dio == NULL);
  CHECK_OK(plait_dio_close(&dio));
  free(written);
  free(read_values);
}

void mpi_distant_names(void) {
  plait_dio* no_disk = NULL;
  plait_dio* offered = NULL;
  plait_dio* found_file = NULL;
  plait_dio_options options;
  char name[32];
  char text[32];
  int server = -2;
  const int other = (rank + 1) % ranks;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.temporary = 1;
  CHECK_OK(plait_dio_open(NULL, "r+", everyone, NULL, &no_disk));
  snprintf(name, sizeof name, "file %d", rank);
  CHECK_OK(plait_dio_offer(name, disk(rank), "w", everyone, &options, &offered));
  CHECK_OK(plait_dio_write(offered, 0, name, sizeof name, rank, NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(name, sizeof name, "file %d", other);
  CHECK_OK(plait_dio_find(name, everyone, &found_file));
  CHECK_OK(plait_dio_owner(found_file, &server));
  CHECK_EQUAL(server, other);
  CHECK_OK(plait_dio_read(found_file, 0, text, sizeof text, other, NULL));
  CHECK(strcmp(text, name) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_dio_close(&offered));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(plait_dio_close(&found_file));
  CHECK_FAILS(plait_dio_find(name, everyone, &found_file), PLAIT_ERROR_ARGUMENT, "no rank has offered");
  CHECK(found_file == NULL);
  CHECK_OK(plait_dio_close(&no_disk));
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
