/* Once no file is open, no thread calls MPI any more: it might be inside when MPI_Finalize begins. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "sf.h"

enum { LENGTH = 1000 };

static atomic_int looked;

int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  ++looked;
  return PMPI_Improbe(source, tag, comm, flag, message, status);
}

static int looks_later(void) {
  const int before = looked;
  usleep(300000);
  return looked - before;
}

int main(int argc, char** argv) {
  static double mine[LENGTH];
  const double bytes = sizeof mine;
  int level;
  int me;
  int processes;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  for (int round = 0; round < 3; ++round) {
    int file;
    int request;
    if (SF_Create("records", -1, processes * bytes, bytes, &file) != 0) printf("not made\n");
    if (SF_Write(file, me * bytes, bytes, mine, &request) != 0 || SF_Wait(&request) != 0) printf("not written\n");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int other = 0; other < processes; ++other)
      if (SF_Read(file, other * bytes, bytes, mine, &request) != 0 || SF_Wait(&request) != 0) printf("not read\n");
    if (looked == 0) printf("nobody looks while a file is open\n");
    if (SF_Destroy(file) != 0) printf("not removed\n");
    /* One look may follow, for what a bell was rung for that has been found already. */
    const int later = looks_later();
    if (later > 2) printf("%d looks after the file has gone\n", later);
  }
  MPI_Finalize();
  return 0;
}
