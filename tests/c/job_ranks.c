/* The ranks of a job without MPI, in C: each writes its rows of an 8 x 6 array. */
#include <plait.h>
#include <stdio.h>
#include <stdlib.h>

static void exit_on_error(plait_status status, const void* handle) {
  if (status == PLAIT_OK) return;
  fprintf(stderr, "status %d: %s\n", (int)status, plait_message(handle));
  exit(1);
}

int main(int argc, char** argv) {
  plait_comm* comm = NULL;
  exit_on_error(plait_comm_world(30.0, &comm), NULL);
  int rank = -1;
  int size = 0;
  exit_on_error(plait_comm_rank(comm, &rank), comm);
  exit_on_error(plait_comm_size(comm, &size), comm);
  exit_on_error(plait_comm_barrier(comm), comm);
  if (plait_comm_world(-1.0, NULL) != PLAIT_ERROR_ARGUMENT) return 2;
  char notation[80];
  snprintf(notation, sizeof notation, "8x6 (cyclic, *) onto (%d)", size);
  plait_layout* rows = NULL;
  exit_on_error(plait_layout_parse(notation, &rows), NULL);
  int64_t shape[2]; /* of the local array */
  exit_on_error(plait_layout_local_shape(rows, rank, 2, shape), rows);
  double values[48];
  for (int64_t i = 0; i < shape[0]; ++i)
    for (int64_t j = 0; j < 6; ++j) values[i * 6 + j] = (double)((i * size + rank) * 6 + j);
  const int64_t array_shape[2] = {8, 6};
  plait_open_options options = {0};
  options.size = sizeof options;
  options.dimensions = 2;
  options.shape = array_shape;
  options.dtype = "<f8";
  plait_file* file = NULL;
  if (argc < 2) return 3;
  exit_on_error(plait_open(argv[1], "w", comm, &options, &file), NULL);
  exit_on_error(plait_write(file, rows, values, shape[0] * 6 * (int64_t)sizeof(double)), file);
  exit_on_error(plait_close(&file), file);
  exit_on_error(plait_layout_free(&rows), NULL);
  exit_on_error(plait_comm_free(&comm), NULL);
  printf("rank %d of %d\n", rank, size);
  return 0;
}
