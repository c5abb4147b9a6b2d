/* MPI_Init, without a word on threads: what is missing comes from the environment, or a file cannot be made. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "sf.h"

int main(int argc, char** argv) {
  int file;
  MPI_Init(&argc, &argv);
  const int made = SF_Create("records", -1, 800.0, 80.0, &file) == 0;
  if (made != (getenv("WORKS") != NULL)) printf("the file was %smade\n", made ? "" : "not ");
  if (made && SF_Destroy(file) != 0) printf("not removed\n");
  MPI_Finalize();
  return 0;
}
