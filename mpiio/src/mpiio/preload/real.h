/**
 * The functions of the MPI that this process has loaded, and Plait's library of accesses.
 */
#ifndef PLAIT_MPIIO_PRELOAD_REAL_H
#define PLAIT_MPIIO_PRELOAD_REAL_H

#include "mpiio/entry.h"

/**
 * Returns the MPI's own function of a name such as PMPI_File_open; NULL if this MPI has none. Ends the process with a
 * message if there is no MPI of the family that this library is built for, because no call could be completed.
 */
void* plait_mpiio_real(const char* name);

/** Returns the address of a variable of the MPI; NULL if this MPI has none. */
void* plait_mpiio_variable(const char* name);

/** Returns what PLAIT_MPIIO says; an unknown value counts as `on`, with a warning, and `off` overrides all others. */
int plait_mpiio_mode(void);

/** Returns the library of accesses, which the first call loads; NULL, with one warning, if that fails. */
const struct plait_mpiio_functions* plait_mpiio_load(void);

#endif
