/**
 * Communicators of Plait, one for each communicator that files are opened on.
 */
#ifndef PLAIT_MPIIO_PRELOAD_COMMUNICATOR_H
#define PLAIT_MPIIO_PRELOAD_COMMUNICATOR_H

#include "mpiio/entry.h"

/**
 * Finds the ranks of a communicator that have the same color, which is the mode, or -1 on a rank without Plait. The
 * first call splits the communicator, in which all ranks take part, and so does one call after each 32767 opens; other
 * calls do not communicate. MPI_COMM_WORLD and communicators with its ranks in its order count as one communicator,
 * unless several threads may call MPI at once or a rank has not called MPI_Init; ranks that differ in this have
 * different colors. Ranks with the color -1 have no communicator. Returns NULL if the MPI fails. The caller owns a
 * reference, which plait_mpiio_release() drops. Stores a tag that no other open file of these ranks has.
 */
struct plait_mpiio_ranks* plait_mpiio_find_ranks(MPI_Comm comm, int color, int* tag);

void plait_mpiio_release(struct plait_mpiio_ranks* ranks);

#endif
