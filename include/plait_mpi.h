/**
 * The C interface of Plait over MPI.  Link with plait::mpi.  See plait.h.
 */
#ifndef PLAIT_MPI_H
#define PLAIT_MPI_H

#include <mpi.h>
#include <plait.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The processes of an MPI communicator; rank r of a layout is process r.  Works on a duplicate.  The first call for a
 *  communicator costs several MPI collectives and a context id; later calls reuse the result, until the communicator is
 *  freed.  Free it, and all handles made with it, before MPI_Finalize.  Collective.
 *  errors  PLAIT_ERROR_ARGUMENT: MPI_COMM_NULL.  PLAIT_ERROR_SYSTEM: MPI is not initialised, no shared memory. */
plait_status plait_comm_from_mpi(MPI_Comm communicator, plait_comm** comm);
/** Takes a communicator's Fortran handle (an INTEGER of `mpi`, `comm%MPI_VAL` of `mpi_f08`). */
plait_status plait_comm_from_fortran(int communicator, plait_comm** comm);

#ifdef __cplusplus
}
#endif

#endif
