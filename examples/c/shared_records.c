/* All processes write and read records anywhere in one file, by the functions of Global Arrays.
 *
 * mpiexec -n 4 ./shared_records, with any number of processes. */
#include <mpi.h>
#include <stdio.h>

#include "sf.h"

enum { LENGTH = 4000, ROUNDS = 3 };

static void check(int code) {
  char text[SF_ERRMSG_SIZE];
  if (code == 0) return;
  SF_Errmsg(code, text);
  fprintf(stderr, "%s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  static double written[ROUNDS][LENGTH];
  static double read_back[LENGTH];
  const double bytes = sizeof read_back;
  int me;
  int processes;
  int file;
  int request;
  int requests[ROUNDS];
  int wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);

  /* Name, maximum bytes (-1: no limit), expected bytes, bytes of a typical request. */
  check(SF_Create("records", -1, ROUNDS * processes * bytes, bytes, &file));
  for (int round = 0; round < ROUNDS; ++round) {
    const int record = round * processes + me;
    for (int i = 0; i < LENGTH; ++i) written[round][i] = record + i / 10000.0;
    check(SF_Write(file, record * bytes, bytes, written[round], &requests[round])); /* starts */
  }
  check(SF_Waitall(requests, ROUNDS));
  MPI_Barrier(MPI_COMM_WORLD); /* now all processes have waited for their writes */

  for (int record = 0; record < ROUNDS * processes; ++record) {
    check(SF_Read(file, record * bytes, bytes, read_back, &request));
    check(SF_Wait(&request));
    for (int i = 0; i < LENGTH; ++i) wrong += read_back[i] != record + i / 10000.0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0) printf("%d records on %d processes: %d wrong\n", ROUNDS * processes, processes, wrong);
  check(SF_Destroy(file)); /* deletes the file */
  MPI_Finalize();
  return wrong != 0;
}
