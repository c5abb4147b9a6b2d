/* The ranks of a job without MPI, in C: each writes its rows of an 8 x 6 array. */
#include <plait.h>
#include <stdio.h>
#include <stdlib.h>

static void check(plait_status status, const void* handle) {
  if (status == PLAIT_OK) return;
  fprintf(stderr, "status %d: %s\n", (int)status, plait_message(handle));
  exit(1);
}

int main(int count, char** words) {
  plait_comm* comm = NULL;
  check(plait_comm_world(30.0, &comm), NULL);
  int rank = -1;
  int size = 0;
  check(plait_comm_rank(comm, &rank), comm);
  check(plait_comm_size(comm, &size), comm);
  check(plait_comm_barrier(comm), comm);
  if (plait_comm_world(-1.0, NULL) != PLAIT_ERROR_ARGUMENT) return 2;
  char text[80];
  snprintf(text, sizeof text, "8x6 (cyclic, *) onto (%d)", size);
  plait_layout* rows = NULL;
  check(plait_layout_parse(text, &rows), NULL);
  int64_t shape[2];
  check(plait_layout_local_shape(rows, rank, 2, shape), rows);
  double values[48];
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < 6; ++j) values[i * 6 + j] = (double)((i * size + rank) * 6 + j);
  const int64_t whole[2] = {8, 6};
  plait_open_options options = {0};
  options.size = sizeof options;
  options.dimensions = 2;
  options.shape = whole;
  options.dtype = "<f8";
  plait_file* file = NULL;
  if (count < 2) return 3;
  check(plait_open(words[1], "w", comm, &options, &file), NULL);
  check(plait_write(file, rows, values, shape[0] * 6 * (int64_t)sizeof(double)), file);
  check(plait_close(&file), file);
  check(plait_layout_free(&rows), NULL);
  check(plait_comm_free(&comm), NULL);
  printf("rank %d of %d\n", rank, size);
  return 0;
}
