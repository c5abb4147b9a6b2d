/* Communicators, and files that several ranks write and read with every layout. */
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "oracle.h"
#include "together.h"

void mpi_comm(void) {
  int number = -1;
  CHECK_OK(plait_comm_rank(everyone, &number));
  CHECK_EQUAL(number, rank);
  CHECK_OK(plait_comm_size(everyone, &number));
  CHECK_EQUAL(number, ranks);
  CHECK_OK(plait_comm_rank(plait_alone(), &number));
  CHECK_EQUAL(number, 0);
  CHECK_OK(plait_comm_size(plait_alone(), &number));
  CHECK_EQUAL(number, 1);

  /* The ranks in reverse order, by Fortran's handle. */
  MPI_Comm reversed = MPI_COMM_NULL;
  plait_comm* comm = NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &reversed);
  CHECK_OK(plait_comm_from_fortran((int)MPI_Comm_c2f(reversed), &comm));
  MPI_Comm_free(&reversed);
  CHECK_OK(plait_comm_rank(comm, &number));
  CHECK_EQUAL(number, ranks - 1 - rank);
  CHECK_OK(plait_comm_free(&comm));
  CHECK(comm == NULL);
  CHECK_OK(plait_comm_free(&comm));
  CHECK_FAILS(plait_comm_from_mpi(MPI_COMM_NULL, &comm), PLAIT_ERROR_ARGUMENT, "MPI_COMM_NULL");
  CHECK_FAILS(plait_comm_from_mpi(MPI_COMM_WORLD, NULL), PLAIT_ERROR_ARGUMENT, "comm is NULL");
  CHECK(comm == NULL);
}

void mpi_file_every_layout(void) {
  const int64_t shape[2] = {11, 7};
  struct oracle from[80];
  struct oracle to[80];
  const int sources = oracle_examples(shape[0], shape[1], ranks, from, 80);
  const int targets = oracle_examples(shape[0], shape[1], ranks, to, 80);
  const char* strategies[] = {NULL, "direct", "two-phase"};
  for (int s = 0; s < sources; s += 3) {
    const bool npy = s % 2 == 0;
    plait_open_options options = double_options(shape);
    options.strategy = strategies[s % 3];
    options.order = s % 4 < 2 ? "C" : "F";
    plait_file* file = NULL;
    plait_layout* source = oracle_layout(&from[s]);
    int64_t count = 0;
    double* values = oracle_local_arrays(&from[s], rank, rank, &count);
    CHECK_OK(plait_open(scratch(npy ? "every.npy" : "every.bin"), "w", everyone, &options, &file));
    CHECK_OK(plait_write(file, source, values, count * 8));
    CHECK_OK(plait_close(&file));
    free(values);
    CHECK_OK(plait_open(scratch(npy ? "every.npy" : "every.bin"), "r", everyone, npy ? NULL : &options, &file));
    for (int t = s % 5; t < targets; t += 5) {
      plait_layout* target = oracle_layout(&to[t]);
      const int64_t owned = oracle_positions(&to[t], rank, NULL);
      int64_t arrays = 0;
      int64_t bytes = 0;
      CHECK_OK(plait_layout_held(target, everyone, 8, &arrays, &bytes));
      CHECK(arrays == 1 && bytes == owned * 8);
      double* read_values = allocate((size_t)owned * 8);
      CHECK_OK(plait_read(file, target, read_values, owned * 8));
      CHECK_EQUAL(oracle_count_differences(&to[t], rank, rank, read_values), 0);
      free(read_values);
      CHECK_OK(plait_layout_free(&target));
    }
    CHECK_OK(plait_close(&file));
    CHECK_OK(plait_layout_free(&source));
  }

  /* A layout of one rank: only the first rank passes elements. */
  const struct oracle first = {{{WHOLE, 0, 11, 1}, {WHOLE, 0, 7, 1}}, 0};
  plait_layout* whole = oracle_layout(&first);
  plait_file* file = NULL;
  double read_values[77];
  const plait_part part = {read_values, sizeof read_values, NULL};
  int64_t arrays = -1;
  CHECK_OK(plait_layout_held(whole, everyone, 8, &arrays, NULL));
  CHECK_EQUAL(arrays, rank == 0);
  CHECK_OK(plait_open(scratch("every.npy"), "r", everyone, NULL, &file));
  CHECK_OK(plait_read(file, whole, rank == 0 ? read_values : NULL, rank == 0 ? (int64_t)sizeof read_values : 0));
  if (rank == 0) CHECK_EQUAL(oracle_count_differences(&first, 0, 0, read_values), 0);
  memset(read_values, 0, sizeof read_values);
  CHECK_OK(plait_read_parts(file, whole, rank == 0 ? &part : NULL, rank == 0, NULL));
  if (rank == 0) CHECK_EQUAL(oracle_count_differences(&first, 0, 0, read_values), 0);
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&whole));
}

void mpi_file_started(void) {
  const int64_t shape[2] = {24, 18};
  const plait_open_options options = double_options(shape);
  struct oracle examples[80];
  const int example_count = oracle_examples(shape[0], shape[1], ranks, examples, 80);
  const struct oracle* from = &examples[0];
  const struct oracle* to = &examples[example_count - 1];
  plait_layout* source = oracle_layout(from);
  plait_layout* target = oracle_layout(to);
  int64_t count = 0;
  const int64_t owned = oracle_positions(to, rank, NULL);
  double* values = oracle_local_arrays(from, rank, rank, &count);
  double* read_values = allocate((size_t)owned * 8);
  plait_file* file = NULL;
  plait_request* writing = NULL;
  plait_request* reading = NULL;
  CHECK_OK(plait_open(scratch("started.npy"), "w", everyone, &options, &file));
  CHECK_OK(plait_start_write(file, source, values, count * 8, &writing));
  CHECK_OK(plait_start_read(file, target, read_values, owned * 8, &reading));
  CHECK_OK(plait_request_wait(reading));
  CHECK_EQUAL(oracle_count_differences(to, rank, rank, read_values), 0);
  CHECK_OK(plait_request_free(&writing));
  CHECK_OK(plait_request_free(&reading));
  /* One rank's mistake in a started call: the call fails on that rank, the wait on the others, with one message. */
  plait_request* wrong = NULL;
  plait_status status =
      plait_start_read(file, target, read_values, rank == ranks - 1 ? owned * 8 - 1 : owned * 8, &wrong);
  if (rank == ranks - 1) {
    CHECK(wrong == NULL);
  } else {
    CHECK_EQUAL(status, PLAIT_OK);
    status = plait_request_wait(wrong);
    CHECK(strcmp(plait_message(wrong), plait_message(NULL)) == 0);
  }
  ALL_FAIL(status, PLAIT_ERROR_ARGUMENT, "make it larger");
  CHECK_OK(plait_request_free(&wrong));
  CHECK_OK(plait_read(file, target, read_values, owned * 8));
  CHECK_OK(plait_close(&file));
  CHECK_OK(plait_layout_free(&source));
  CHECK_OK(plait_layout_free(&target));
  free(values);
  free(read_values);
}
