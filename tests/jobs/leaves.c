/* Rank 1 calls MPI_Finalize while the others still open a file; they print their errors. */
#include <plait_mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0;
  plait_comm* comm = NULL;
  plait_file* file = NULL;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (plait_comm_from_mpi(MPI_COMM_WORLD, &comm) != PLAIT_OK) return 3;
  plait_open(argv[1], "r", comm, NULL, &file); /* all ranks get the error of a missing file */
  if (rank != 1) {
    plait_open(argv[1], "r", comm, NULL, &file);
    printf("reported: %s\n", plait_message(NULL));
    fflush(stdout);
  }
  plait_comm_free(&comm);
  MPI_Finalize();
  return 0;
}
