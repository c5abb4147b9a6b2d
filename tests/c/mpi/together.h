/* Functions and variables that all tests of several processes use. */
#ifndef TOGETHER_H
#define TOGETHER_H

#include <plait_mpi.h>
#include <stdbool.h>

extern plait_comm* everyone; /* made from MPI_COMM_WORLD */
extern int rank;
extern int ranks;

/* Checks that the status is the expected one, and that all ranks have it and the same last message, which contains
 * `words`. */
void check_together(plait_status status, plait_status expected, const char* words, const char* file, int line);

/* Checks a call that fails with the same status and message on all ranks. */
#define ALL_FAIL(call, status, words)                                     \
  do {                                                                    \
    const plait_status status_of_all = (call);                            \
    check_together(status_of_all, (status), (words), __FILE__, __LINE__); \
  } while (0)

#endif
