/* One end of a pipe: pipe_ends write|read NAME LAYOUT [alone].  With `alone`, one process has the arrays of all ranks.
 * If a value is not the expected one, the program prints an error and ends with status 1. */
#include <plait_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 9, COLUMNS = 6, STEPS = 4 };
static const int64_t kShape[2] = {ROWS, COLUMNS};
static int rank = 0;

static void abort_on_error(plait_status status, const char* what) {
  if (status == PLAIT_OK) return;
  printf("rank %d: %s: %s\n", rank, what, plait_message(NULL));
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(int holds, const char* what, int step) {
  if (holds) return;
  printf("rank %d: step %d: not as expected: %s\n", rank, step, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Fills the local arrays that this process has, which follow each other in `values`, or compares them with the values
 * that they must have. */
static void fill_or_compare(const plait_layout* layout, int alone, double* values, int step, int fill) {
  int64_t ranks = 0;
  int64_t end = 0;
  int64_t next = 0;
  abort_on_error(plait_layout_ranks(layout, &ranks, &end), "plait_layout_ranks");
  for (int64_t owner = alone ? 0 : rank; owner < (alone ? end : rank + 1); ++owner) {
    int64_t shape[2] = {0, 0};
    int has = 0;
    abort_on_error(plait_layout_has_rank(layout, owner, &has), "plait_layout_has_rank");
    if (!has) continue;
    abort_on_error(plait_layout_local_shape(layout, owner, 2, shape), "plait_layout_local_shape");
    for (int64_t n = 0; n < shape[0] * shape[1]; ++n, ++next) {
      const int64_t local[2] = {n / shape[1], n % shape[1]};
      int64_t index[2];
      abort_on_error(plait_layout_to_global(layout, local, owner, index), "plait_layout_to_global");
      const double value = 1000.0 * step + (double)(COLUMNS * index[0] + index[1]);
      if (fill) values[next] = value;
      expect(values[next] == value, "an element", step);
    }
  }
}

static void write_steps(plait_file* file, const plait_layout* layout, const plait_comm* comm, double* values) {
  const int64_t count_shape = 3;
  int64_t bytes = 0;
  plait_layout* count_layout = NULL;
  abort_on_error(plait_layout_parse_shape("(*)", 1, &count_shape, &count_layout), "plait_layout_parse_shape");
  abort_on_error(plait_layout_held(layout, comm, 8, NULL, &bytes), "plait_layout_held");
  for (int step = 0; step < STEPS; ++step) {
    const int32_t count[3] = {step, -step, 7};
    int more = 0;
    fill_or_compare(layout, comm == plait_alone(), values, step, /*fill=*/1);
    abort_on_error(plait_put_integer(file, "n", step), "plait_put_integer");
    abort_on_error(plait_put_real(file, "time", 0.25 * step), "plait_put_real");
    abort_on_error(plait_put_text(file, "name", "flow"), "plait_put_text");
    abort_on_error(plait_begin_step(file, &more), "plait_begin_step");
    abort_on_error(plait_write(file, layout, values, bytes), "plait_write");
    abort_on_error(plait_define_variable(file, "count", 1, &count_shape, "<i4", 0), "plait_define_variable");
    abort_on_error(plait_write(file, count_layout, rank == 0 ? count : NULL, rank == 0 ? (int64_t)sizeof count : 0),
                   "plait_write");
    abort_on_error(plait_select_variable(file, "data"), "plait_select_variable");
    abort_on_error(plait_end_step(file), "plait_end_step");
  }
  abort_on_error(plait_layout_free(&count_layout), "plait_layout_free");
}

static void read_steps(plait_file* file, const plait_layout* layout, const plait_comm* comm, double* values) {
  const int64_t count_shape = 3;
  int64_t bytes = 0;
  int more = 0;
  int step = 0;
  plait_layout* count_layout = NULL;
  abort_on_error(plait_layout_parse_shape("(*)", 1, &count_shape, &count_layout), "plait_layout_parse_shape");
  abort_on_error(plait_layout_held(layout, comm, 8, NULL, &bytes), "plait_layout_held");
  for (abort_on_error(plait_begin_step(file, &more), "plait_begin_step"); more != 0; ++step) {
    int64_t n = -1;
    double time = -1;
    char* name = NULL;
    int32_t count[3] = {0};
    abort_on_error(plait_get_integer(file, "n", &n), "plait_get_integer");
    abort_on_error(plait_get_real(file, "time", &time), "plait_get_real");
    abort_on_error(plait_get_text(file, "name", &name), "plait_get_text");
    expect(n == step && time == 0.25 * step && strcmp(name, "flow") == 0, "attributes", step);
    abort_on_error(plait_text_free(&name), "plait_text_free");
    abort_on_error(plait_read(file, layout, values, bytes), "plait_read");
    fill_or_compare(layout, comm == plait_alone(), values, step, /*fill=*/0);
    abort_on_error(plait_select_variable(file, "count"), "plait_select_variable");
    abort_on_error(plait_read(file, count_layout, rank == 0 ? count : NULL, rank == 0 ? (int64_t)sizeof count : 0),
                   "plait_read");
    expect(rank != 0 || (count[0] == step && count[1] == -step && count[2] == 7), "the other array", step);
    abort_on_error(plait_select_variable(file, "data"), "plait_select_variable");
    abort_on_error(plait_end_step(file), "plait_end_step");
    abort_on_error(plait_begin_step(file, &more), "plait_begin_step");
  }
  expect(step == STEPS, "the number of steps", step);
  abort_on_error(plait_layout_free(&count_layout), "plait_layout_free");
}

int main(int argc, char** argv) {
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4) return 2;
  const int writes = strcmp(argv[1], "write") == 0;
  plait_comm* everyone = NULL;
  plait_layout* layout = NULL;
  plait_file* file = NULL;
  plait_open_options options = {0};
  double* values = malloc(ROWS * COLUMNS * sizeof *values);
  abort_on_error(plait_comm_from_mpi(MPI_COMM_WORLD, &everyone), "plait_comm_from_mpi");
  const plait_comm* comm = argc > 4 ? plait_alone() : everyone;
  abort_on_error(plait_layout_parse_shape(argv[3], 2, kShape, &layout), "plait_layout_parse_shape");
  options.size = sizeof options;
  options.shape = kShape;
  options.dimensions = 2;
  options.dtype = "<f8";
  abort_on_error(plait_open(argv[2], writes ? "w" : "r", comm, &options, &file), "plait_open");
  (writes ? write_steps : read_steps)(file, layout, comm, values);
  abort_on_error(plait_close(&file), "plait_close");
  abort_on_error(plait_layout_free(&layout), "plait_layout_free");
  abort_on_error(plait_comm_free(&everyone), "plait_comm_free");
  free(values);
  MPI_Finalize();
  return 0;
}
