/* Fixed and record variables of PnetCDF, which all ranks write and read at once.
 *
 * usage: pnetcdf_access FOLDER ROWS COLUMNS
 *
 * Each rank has every n-th column of n ranks. Element (t, y, x) is 10000000 t + 1000 y + x. Rank 0 prints the seconds.
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRecords = 3 };

static int rank, ranks;
static MPI_Offset rows, columns;

static void check(int code, int line) {
  if (code == NC_NOERR) return;
  fprintf(stderr, "line %d: %s\n", line, ncmpi_strerror(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, __LINE__)

static double value(MPI_Offset t, MPI_Offset y, MPI_Offset x) { return 1e7 * (double)t + 1e3 * (double)y + (double)x; }

/* Elements of columns first, first + distance, ... of one record. */
static void fill(double* data, MPI_Offset t, MPI_Offset first, MPI_Offset distance, MPI_Offset count) {
  for (MPI_Offset y = 0; y < rows; ++y)
    for (MPI_Offset i = 0; i < count; ++i) data[y * count + i] = value(t, y, first + i * distance);
}

static void compare(const double* data, MPI_Offset t, MPI_Offset first, MPI_Offset distance, MPI_Offset count) {
  for (MPI_Offset y = 0; y < rows; ++y)
    for (MPI_Offset i = 0; i < count; ++i)
      if (data[y * count + i] != value(t, y, first + i * distance)) {
        fprintf(stderr, "rank %d: record %lld, row %lld, column %lld has %g\n", rank, (long long)t, (long long)y,
                (long long)(first + i * distance), data[y * count + i]);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
}

static void report(const char* name, double begin) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("seconds %s %.4f\n", name, MPI_Wtime() - begin);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rows = atoi(argv[2]), columns = atoi(argv[3]);
  char path[4096];
  snprintf(path, sizeof path, "%s/pnetcdf_c.nc", argv[1]);

  int file, dimensions[3], by_blocks, by_stride, records;
  CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  CHECK(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]));
  CHECK(ncmpi_def_dim(file, "row", rows, &dimensions[1]));
  CHECK(ncmpi_def_dim(file, "column", columns, &dimensions[2]));
  CHECK(ncmpi_def_var(file, "blocks", NC_DOUBLE, 2, dimensions + 1, &by_blocks));
  CHECK(ncmpi_def_var(file, "strided", NC_DOUBLE, 2, dimensions + 1, &by_stride));
  CHECK(ncmpi_def_var(file, "records", NC_DOUBLE, 3, dimensions, &records));
  CHECK(ncmpi_put_att_text(file, NC_GLOBAL, "title", 11, "conformance"));
  CHECK(ncmpi_enddef(file));

  /* Columns of this rank, as one block and as every n-th one. */
  const MPI_Offset first = columns * rank / ranks, block = columns * (rank + 1) / ranks - first;
  const MPI_Offset own = (columns - rank + ranks - 1) / ranks;
  const MPI_Offset start[3] = {0, 0, first}, size[3] = {1, rows, block}, stride[2] = {1, ranks};
  const MPI_Offset begin_strided[2] = {0, rank}, size_strided[2] = {rows, own};
  const size_t bytes = (size_t)(rows * (block > own ? block : own)) * sizeof(double);
  double* data[kRecords];
  for (int t = 0; t < kRecords; ++t) data[t] = malloc(bytes + 1);

  double begin = MPI_Wtime();
  fill(data[0], 0, first, 1, block);
  CHECK(ncmpi_put_vara_double_all(file, by_blocks, start + 1, size + 1, data[0]));
  fill(data[0], 0, rank, ranks, own);
  CHECK(ncmpi_put_vars_double_all(file, by_stride, begin_strided, size_strided, stride, data[0]));
  report("blocking_writes", begin);

  begin = MPI_Wtime();
  int requests[kRecords], statuses[kRecords];
  for (int t = 0; t < kRecords; ++t) {
    const MPI_Offset at[3] = {t, 0, first};
    fill(data[t], t, first, 1, block);
    CHECK(ncmpi_iput_vara_double(file, records, at, size, data[t], &requests[t]));
  }
  CHECK(ncmpi_wait_all(file, kRecords, requests, statuses));
  for (int t = 0; t < kRecords; ++t) CHECK(statuses[t]);
  report("nonblocking_writes", begin);
  CHECK(ncmpi_close(file));

  begin = MPI_Wtime();
  CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
  memset(data[0], 0, bytes);
  CHECK(ncmpi_get_vars_double_all(file, by_blocks, begin_strided, size_strided, stride, data[0]));
  compare(data[0], 0, rank, ranks, own);
  CHECK(ncmpi_get_vara_double_all(file, by_stride, start + 1, size + 1, data[0]));
  compare(data[0], 0, first, 1, block);
  for (int t = 0; t < kRecords; ++t) {
    const MPI_Offset at[3] = {t, 0, first};
    memset(data[t], 0, bytes);
    CHECK(ncmpi_iget_vara_double(file, records, at, size, data[t], &requests[t]));
  }
  CHECK(ncmpi_wait_all(file, kRecords, requests, statuses));
  for (int t = 0; t < kRecords; ++t) compare(data[t], t, first, 1, block);
  report("reads", begin);
  CHECK(ncmpi_close(file));
  for (int t = 0; t < kRecords; ++t) free(data[t]);
  MPI_Finalize();
  return 0;
}
