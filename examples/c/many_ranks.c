/* Every rank writes its rows of an array and reads back a block-cyclic part of it.
 *
 * mpiexec -n 4 ./many_ranks, with any number of ranks. */
#include <plait_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLUMNS = 600 };

/* All ranks get the same status and message from a collective call, so each of them may end here. */
static void check(plait_status status) {
  if (status == PLAIT_OK) return;
  fprintf(stderr, "%s\n", plait_message(NULL));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Returns a layout, and allocates memory for the local array of this rank. */
static plait_layout* parse_layout(const char* text, const plait_comm* comm, double** data, int64_t* bytes) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  plait_layout* layout;
  check(plait_layout_parse_shape(text, 2, shape, &layout));
  check(plait_layout_held(layout, comm, sizeof(double), NULL, bytes));
  *data = malloc(*bytes > 0 ? (size_t)*bytes : 1);
  if (*data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return layout;
}

/* Returns the indices of one dimension that a rank owns. */
static int64_t* list_indices(const plait_layout* layout, int rank, int dimension, int64_t* count) {
  int64_t local[2];
  check(plait_layout_local_shape(layout, rank, 2, local));
  *count = local[dimension];
  int64_t* indices = malloc((size_t)(*count + 1) * sizeof *indices);
  if (indices == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  check(plait_layout_indices(layout, rank, dimension, *count, indices));
  return indices;
}

int main(int argc, char** argv) {
  int rank;
  int ranks;
  char text[64];
  MPI_Init(&argc, &argv);
  plait_comm* comm;
  check(plait_comm_from_mpi(MPI_COMM_WORLD, &comm));
  check(plait_comm_rank(comm, &rank));
  check(plait_comm_size(comm, &ranks));

  /* Write: rank r has a block of rows. */
  double* data;
  int64_t bytes;
  int64_t height;
  snprintf(text, sizeof text, "(block, *) onto (%d)", ranks);
  plait_layout* rows = parse_layout(text, comm, &data, &bytes);
  int64_t* row_indices = list_indices(rows, rank, 0, &height);
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < COLUMNS; ++j) data[i * COLUMNS + j] = 1000.0 * (double)row_indices[i] + (double)j;
  const int64_t shape[2] = {ROWS, COLUMNS};
  const plait_open_options options = {.size = sizeof options, .shape = shape, .dimensions = 2, .dtype = "<f8"};
  plait_file* file;
  check(plait_open("array.npy", "w", comm, &options, &file));
  check(plait_write(file, rows, data, bytes));
  check(plait_close(&file));
  free(data);
  free(row_indices);

  /* Read: blocks of 7 rows and whole columns, distributed cyclically.  The file's header has the shape and type. */
  snprintf(text, sizeof text, "(cyclic(7), *) onto (%d)", ranks);
  plait_layout* blocks = parse_layout(text, comm, &data, &bytes);
  check(plait_open("array.npy", "r", comm, NULL, &file));
  check(plait_read(file, blocks, data, bytes));
  check(plait_close(&file));

  int64_t wrong = 0;
  row_indices = list_indices(blocks, rank, 0, &height);
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < COLUMNS; ++j) wrong += data[i * COLUMNS + j] != 1000.0 * (double)row_indices[i] + (double)j;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d x %d doubles on %d ranks: %d wrong\n", ROWS, COLUMNS, ranks, (int)wrong);

  free(data);
  free(row_indices);
  plait_layout_free(&rows);
  plait_layout_free(&blocks);
  plait_comm_free(&comm); /* before MPI_Finalize */
  MPI_Finalize();
  return wrong != 0;
}
