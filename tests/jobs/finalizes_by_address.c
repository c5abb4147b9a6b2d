/* Ends MPI through a pointer to MPI_Finalize.  If the program is not position-independent, the address of the function
   is that of a stub in the program, in all libraries too. */
#include <mpi.h>
#include <plait_mpi.h>
#include <stdio.h>

static int (*volatile finalize)(void) = MPI_Finalize;

int main(int argc, char** argv) {
  plait_comm* everyone = NULL;
  MPI_Init(&argc, &argv);
  if (plait_comm_from_mpi(MPI_COMM_WORLD, &everyone) != PLAIT_OK || plait_comm_free(&everyone) != PLAIT_OK) {
    fprintf(stderr, "%s\n", plait_message(NULL));
    return 1;
  }
  if (finalize() != MPI_SUCCESS) return 1;
  printf("ended\n");
  return 0;
}
