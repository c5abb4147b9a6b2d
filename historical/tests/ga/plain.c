/* A program that calls MPI_Init, and so requests no support of threads. */
#include <mpi.h>
#include <stdio.h>

#include "sf.h"

int main(int argc, char** argv) {
  double value = 0.5;
  int file;
  int me;
  int processes;
  int request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (SF_Create("records", -1, 800.0, 80.0, &file) != 0) printf("not made\n");
  if (SF_Write(file, 8.0 * me, 8.0, &value, &request) != 0 || SF_Wait(&request) != 0) printf("not written\n");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int other = 0; other < processes; ++other) {
    double found = -1;
    if (SF_Read(file, 8.0 * other, 8.0, &found, &request) != 0 || SF_Wait(&request) != 0) printf("not read\n");
    if (found != 0.5) printf("%f of %d\n", found, other);
  }
  if (SF_Destroy(file) != 0) printf("not removed\n");
  MPI_Finalize();
  return 0;
}
