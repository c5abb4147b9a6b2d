/* Functions of Global Arrays that programs with Shared Files call, implemented by MPI as far as the tests need them. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef INTEGER
#define INTEGER int32_t
#endif

static INTEGER me;
static INTEGER processes;

void pbeginf_(void) {
  int number = 0;
  int level = MPI_THREAD_SINGLE;
  if (getenv("SF_TEST_SINGLE") != NULL)
    MPI_Init(NULL, NULL);
  else
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  me = number;
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  processes = number;
}

/* If SF_TEST_APART is set, each process works in a separate folder, like a disk that other processes cannot access. */
void ga_initialize_(void) {
  char folder[32];
  if (getenv("SF_TEST_APART") == NULL) return;
  snprintf(folder, sizeof folder, "disk-%d", (int)me);
  if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || chdir(folder) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

void ga_terminate_(void) {}
void pend_(void) { MPI_Finalize(); }
INTEGER ga_nodeid_(void) { return me; }
INTEGER ga_nnodes_(void) { return processes; }
void ga_sync_(void) { MPI_Barrier(MPI_COMM_WORLD); }

void ga_error_(const char* text, const INTEGER* code, size_t length) {
  fprintf(stderr, "process %d: %.*s: %d\n", (int)me, (int)(length & 0x7fffffff), text, (int)*code);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
