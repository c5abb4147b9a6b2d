/* The C interface under mpiexec.  Every process runs every case. */
#include <stdlib.h>

#include "cases.h"
#include "check.h"
#include "together.h"

plait_comm* everyone;
int rank;
int ranks;

void check_together(plait_status status, plait_status expected, const char* words, const char* file, int line) {
  enum { LENGTH = 2048 };
  char first_message[LENGTH] = ""; /* of rank 0 */
  int first_status = status;
  const char* message = plait_message(NULL);
  check_status(status, expected, message, file, line, "a call of all ranks");
  if (status != PLAIT_OK) check_contains(message, words, file, line);
  if (rank == 0) snprintf(first_message, sizeof first_message, "%s", status == PLAIT_OK ? "" : message);
  MPI_Bcast(&first_status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(first_message, LENGTH, MPI_CHAR, 0, MPI_COMM_WORLD);
  check_equal(status, first_status, file, line, "status on this rank == on rank 0");
  if (status != PLAIT_OK && strcmp(first_message, message) != 0) {
    fprintf(stderr, "rank %d says \"%s\", rank 0 \"%s\"\n", rank, message, first_message);
    check_that(false, file, line, "the same message on all ranks");
  }
}

static long sum_over_ranks(long failures) {
  long all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  static const struct test_case cases[] = {
      {"mpi_comm", mpi_comm},
      {"mpi_file_every_layout", mpi_file_every_layout},
      {"mpi_file_started", mpi_file_started},
      {"mpi_redistribute_every_layout", mpi_redistribute_every_layout},
      {"mpi_redistribute_plan", mpi_redistribute_plan},
      {"mpi_open_mistakes", mpi_open_mistakes},
      {"mpi_access_mistakes", mpi_access_mistakes},
      {"mpi_redistribute_mistakes", mpi_redistribute_mistakes},
      {"mpi_fail_functions", mpi_fail_functions},
      {"mpi_abandoned", mpi_abandoned},
      {"mpi_stream_modes", mpi_stream_modes},
      {"mpi_stream_mistakes", mpi_stream_mistakes},
      {"mpi_steps_between_ranks", mpi_steps_between_ranks},
      {"mpi_steps_mistakes", mpi_steps_mistakes},
      {"mpi_distant_everywhere", mpi_distant_everywhere},
      {"mpi_distant_names", mpi_distant_names},
      {"mpi_distant_mistakes", mpi_distant_mistakes},
      {"mpi_wrong_opening", mpi_wrong_opening},
      {"mpi_wrong_accesses", mpi_wrong_accesses},
      {"mpi_wrong_streams", mpi_wrong_streams},
      {"mpi_wrong_redistributions", mpi_wrong_redistributions},
      {"mpi_wrong_distant", mpi_wrong_distant},
      {"mpi_wrong_layouts", mpi_wrong_layouts},
      {"mpi_wrong_conversions", mpi_wrong_conversions},
      {"mpi_wrong_queries", mpi_wrong_queries},
      {"mpi_wrong_handles", mpi_wrong_handles},
      {"mpi_wrong_steps", mpi_wrong_steps},
  };
  int threads = 0;
  plait_comm* early = NULL;
  if (plait_comm_from_mpi(MPI_COMM_WORLD, &early) != PLAIT_ERROR_SYSTEM || early != NULL ||
      strstr(plait_message(NULL), "MPI_Init") == NULL) {
    fprintf(stderr, "without MPI_Init a communicator should be an error that says so\n");
    return 1;
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  /* The mpiexec of another MPI would start that many jobs of one rank each. */
  const char* expected = getenv("PLAIT_TEST_RANKS");
  if (expected != NULL && atoi(expected) != ranks) {
    fprintf(stderr, "there are %d ranks, not %s; is mpiexec that of another MPI?\n", ranks, expected);
    return 1;
  }
  process_rank = rank;
  failures_everywhere = sum_over_ranks;
  if (rank == 0) make_scratch();
  MPI_Bcast(scratch_folder, sizeof scratch_folder, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (plait_comm_from_mpi(MPI_COMM_WORLD, &everyone) != PLAIT_OK) {
    fprintf(stderr, "%s\n", plait_message(NULL));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const int status = run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
  if (plait_comm_free(&everyone) != PLAIT_OK || everyone != NULL) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) remove_scratch();
  MPI_Finalize();
  return status;
}
