/**
 * The descriptors by which the MPI opens files.
 */
#ifndef PLAIT_MPIIO_PRELOAD_DESCRIPTOR_H
#define PLAIT_MPIIO_PRELOAD_DESCRIPTOR_H

/** Watches the calls of this thread that open a file of this name, until plait_mpiio_unwatch(). */
void plait_mpiio_watch(const char* path);

/** Returns the last descriptor of the file; -1 if there was none. */
int plait_mpiio_unwatch(void);

#endif
