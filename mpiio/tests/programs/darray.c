/* Writes and reads an array of doubles that is distributed by (cyclic, cyclic), through MPI_ and PMPI_ names, in a
 * program without threads.
 *
 * usage: darray FILE N
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program unless a condition holds. */
static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Datatype make_type(int n, int rank, int ranks) {
  int grid[2] = {0, 0};
  MPI_Dims_create(ranks, 2, grid);
  const int shape[2] = {n, n};
  const int kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
  const int blocks[2] = {1, 2};
  MPI_Datatype type;
  MPI_Type_create_darray(ranks, rank, 2, shape, kinds, blocks, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, bytes, count;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype type = make_type(atoi(argv[2]), rank, ranks);
  MPI_Type_size(type, &bytes);
  const int number = bytes / (int)sizeof(double);
  double* data = malloc((size_t)bytes + 1);
  double* found = calloc((size_t)number + 1, sizeof(double));
  for (int i = 0; i < number; ++i) data[i] = rank + 0.001 * i;

  MPI_File file;
  MPI_Status status;
  MPI_Offset position;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  check(MPI_File_set_view(file, 64, MPI_DOUBLE, type, "native", MPI_INFO_NULL) == MPI_SUCCESS, "set_view");
  check(MPI_File_write_all(file, data, number, MPI_DOUBLE, &status) == MPI_SUCCESS, "write_all");
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  MPI_File_get_position(file, &position);
  check(count == number && position == number, "status or position of write_all");
  check(PMPI_File_read_at_all(file, 0, found, number, MPI_DOUBLE, MPI_STATUS_IGNORE) == MPI_SUCCESS, "read_at_all");
  for (int i = 0; i < number; ++i) check(found[i] == data[i], "elements");
  check(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL, "close");
  MPI_Type_free(&type);
  free(data);
  free(found);
  MPI_Finalize();
  return 0;
}
