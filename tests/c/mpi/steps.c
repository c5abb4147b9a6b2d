/* Steps of pipes between two groups of ranks of one job. */
#define _XOPEN_SOURCE 700
#include <plait/steps.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"
#include "together.h"

enum { EXAMPLES = 80, STEPS = 7 };
static const int64_t kShape[2] = {11, 7};

/* One end of a pipe. */
struct end {
  bool writes;
  int rank;  /* of this process among the ranks of the end */
  int ranks; /* of the end */
  plait_comm* comm;
  plait_file* file;
};

/* Divides the ranks into `writers` writers and the readers.  Returns the end of this rank. */
static struct end split_ranks(int writers) {
  struct end end = {rank < writers, 0, 0, NULL, NULL};
  const char* folder = scratch("meet");
  MPI_Comm end_comm = MPI_COMM_NULL;
  mkdir(folder, 0700);
  setenv("PLAIT_MEET", folder, 1);
  MPI_Comm_split(MPI_COMM_WORLD, end.writes ? 0 : 1, rank, &end_comm);
  MPI_Comm_rank(end_comm, &end.rank);
  MPI_Comm_size(end_comm, &end.ranks);
  CHECK_OK(plait_comm_from_mpi(end_comm, &end.comm));
  MPI_Comm_free(&end_comm);
  return end;
}

static void open_pipe(struct end* end) {
  const plait_open_options options = double_options(kShape);
  if (end->writes) {
    CHECK_OK(plait_open("pipe:inside", "w", end->comm, &options, &end->file));
  } else {
    CHECK_OK(plait_open("pipe:inside?timeout=30", "r", end->comm, NULL, &end->file));
  }
}

static void write_steps(struct end* end) {
  struct oracle layouts[EXAMPLES];
  const int examples = oracle_examples(kShape[0], kShape[1], end->ranks, layouts, EXAMPLES);
  for (int step = 0; step < STEPS; ++step) {
    const struct oracle* oracle = &layouts[5 * step % examples];
    plait_layout* layout = oracle_layout(oracle);
    int64_t count = 0;
    int more = 0;
    double* values = oracle_local_arrays(oracle, end->rank, end->rank, &count);
    for (int64_t n = 0; n < count; ++n) values[n] += 1000.0 * step;
    CHECK_OK(
        plait_put_integer(end->file, "from", end->rank == 0 ? 100 + step : -1)); /* readers get the value of rank 0 */
    CHECK_OK(plait_begin_step(end->file, &more));
    CHECK_EQUAL(more, 1);
    CHECK_OK(plait_write(end->file, layout, values, count * 8));
    CHECK_OK(plait_end_step(end->file));
    free(values);
    CHECK_OK(plait_layout_free(&layout));
  }
}

static void read_steps(struct end* end) {
  struct oracle layouts[EXAMPLES];
  const int examples = oracle_examples(kShape[0], kShape[1], end->ranks, layouts, EXAMPLES);
  int more = 0;
  int step = 0;
  while (plait_begin_step(end->file, &more) == PLAIT_OK && more != 0) {
    const struct oracle* oracle = &layouts[3 * step % examples];
    const int64_t count = oracle_positions(oracle, end->rank, NULL);
    plait_layout* layout = oracle_layout(oracle);
    double* values = allocate((size_t)(count + 1) * 8);
    int64_t from = 0;
    CHECK_OK(plait_read(end->file, layout, values, count * 8));
    for (int64_t n = 0; n < count; ++n) values[n] -= 1000.0 * step;
    CHECK_EQUAL(oracle_count_differences(oracle, end->rank, end->rank, values), 0);
    CHECK_OK(plait_get_integer(end->file, "from", &from));
    CHECK_EQUAL(from, 100 + step);
    CHECK_OK(plait_end_step(end->file));
    free(values);
    CHECK_OK(plait_layout_free(&layout));
    ++step;
  }
  CHECK_EQUAL(more, 0);
  CHECK_EQUAL(step, STEPS);
}

void mpi_steps_between_ranks(void) {
  for (int writers = 1; writers < ranks; ++writers) {
    struct end end = split_ranks(writers);
    open_pipe(&end);
    if (end.writes) {
      write_steps(&end);
    } else {
      read_steps(&end);
    }
    CHECK_OK(plait_close(&end.file));
    CHECK_OK(plait_comm_free(&end.comm));
    MPI_Barrier(MPI_COMM_WORLD); /* so that another writer may use the name */
  }
}

/* An error on one rank of an end is an error on all ranks of that end; the other end is not affected. */
void mpi_steps_mistakes(void) {
  if (ranks < 2) return;
  struct end end = split_ranks((ranks + 1) / 2);
  const bool is_wrong = end.rank == end.ranks - 1;
  const struct oracle whole = {{{BLOCK, 0, kShape[0], end.ranks}, {WHOLE, 0, kShape[1], 1}}, 0};
  plait_layout* layout = oracle_layout(&whole);
  int64_t count = 0;
  int64_t number = 0;
  int more = 0;
  double* values = oracle_local_arrays(&whole, end.rank, end.rank, &count);
  open_pipe(&end);
  CHECK_FAILS(plait_begin_step(end.file, is_wrong ? NULL : &more), PLAIT_ERROR_ARGUMENT, "more is NULL");
  CHECK_FAILS(plait_end_step(end.file), PLAIT_ERROR_ARGUMENT, "no step has begun");
  if (is_wrong) CHECK_FAILS(plait_select_variable(end.file, ""), PLAIT_ERROR_ARGUMENT, "an empty name");
  if (end.writes) CHECK_OK(plait_put_integer(end.file, "n", 7));
  CHECK_OK(plait_begin_step(end.file, &more));
  CHECK_EQUAL(more, 1);
  if (end.writes && end.ranks > 1) {
    /* Ranks that select different arrays, or define one name with different types: nothing is written, and the step
     * stays usable. */
    CHECK_OK(plait_define_variable(end.file, is_wrong ? "heat" : "cold", 2, kShape, "<f8", 0));
    CHECK_FAILS(plait_write(end.file, layout, values, count * 8), PLAIT_ERROR_ARGUMENT, "differ");
    CHECK_OK(plait_define_variable(end.file, "heat", 2, kShape, is_wrong ? "<f4" : "<f8", 0));
    CHECK_FAILS(plait_write(end.file, layout, values, PLAIT_UNKNOWN), PLAIT_ERROR_ARGUMENT, "differ");
    CHECK_OK(plait_select_variable(end.file, "data"));
  }
  if (end.writes) {
    CHECK_OK(plait_write(end.file, layout, values, count * 8));
  } else {
    CHECK_FAILS(plait_read(end.file, is_wrong ? NULL : layout, values, count * 8), PLAIT_ERROR_ARGUMENT,
                "layout is NULL");
    CHECK_OK(plait_read(end.file, layout, values, count * 8)); /* the step is still usable */
    CHECK_EQUAL(oracle_count_differences(&whole, end.rank, end.rank, values), 0);
    CHECK_OK(plait_get_integer(end.file, "n", &number));
    CHECK_EQUAL(number, 7);
  }
  CHECK_OK(plait_end_step(end.file));
  CHECK_OK(plait_close(&end.file));
  free(values);
  CHECK_OK(plait_layout_free(&layout));
  CHECK_OK(plait_comm_free(&end.comm));
  MPI_Barrier(MPI_COMM_WORLD);
}
