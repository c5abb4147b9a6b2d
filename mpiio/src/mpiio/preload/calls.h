/**
 * Macros and types shared by the functions that replace those of the MPI.
 */
#ifndef PLAIT_MPIIO_PRELOAD_CALLS_H
#define PLAIT_MPIIO_PRELOAD_CALLS_H

#include <stddef.h>

#include "mpiio/entry.h"
#include "mpiio/preload/real.h"

#define EXPORT __attribute__((visibility("default")))

/** Defines PNAME as a second name of NAME. */
#define ALSO_PROFILING(NAME) EXPORT __typeof__(NAME) P##NAME __attribute__((alias(#NAME)))

/** Defines `name`, the MPI's function NAME, which each call site looks up once. */
#define FIND(name, NAME)                                \
  static __typeof__(NAME)* name;                        \
  if (__atomic_load_n(&name, __ATOMIC_ACQUIRE) == NULL) \
  __atomic_store_n(&name, (__typeof__(NAME)*)plait_mpiio_real("P" #NAME), __ATOMIC_RELEASE)

/** Defines `real`, the MPI's function NAME. */
#define REAL(NAME) FIND(real, NAME)

/** Returns the functions of libplait_mpiio_access; NULL if PLAIT_MPIIO is off or the library cannot be loaded. */
static inline const struct plait_mpiio_functions* plait_mpiio_active(void) {
  return plait_mpiio_mode() == PLAIT_MPIIO_OFF ? NULL : plait_mpiio_load();
}

/** True if Plait has carried out the access, with this result. */
static inline int plait_mpiio_accessed(const struct plait_mpiio_access* access, int* code) {
  const struct plait_mpiio_functions* functions = plait_mpiio_active();
  return functions != NULL && functions->access(access, code);
}

#endif
