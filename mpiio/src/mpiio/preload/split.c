// Split collective accesses: Plait carries them out when they begin, which MPI allows.

#include <limits.h>
#include <stddef.h>

#include "mpiio/preload/calls.h"

/// Passes on the result of the MPI. An access that has failed to begin has no end: later accesses may be Plait's.
static int begun(MPI_File file, int writes, int code) {
  const struct plait_mpiio_functions* functions = code == MPI_SUCCESS ? NULL : plait_mpiio_active();
  if (functions != NULL) functions->ended(file, writes, MPI_STATUS_IGNORE);
  return code;
}

#define DEFINE_BEGIN(NAME, WRITES, CONST, COUNT, SUFFIX)                                                             \
  EXPORT int MPI_File_##NAME##_all_begin##SUFFIX(MPI_File file, CONST void* data, COUNT count, MPI_Datatype type) {  \
    const struct plait_mpiio_access access = {.file = file,                                                          \
                                              .writes = WRITES,                                                      \
                                              .begins = 1,                                                           \
                                              .data = (void*)data,                                                   \
                                              .count = count,                                                        \
                                              .type = type,                                                          \
                                              .status = MPI_STATUS_IGNORE};                                          \
    int code;                                                                                                        \
    if (plait_mpiio_accessed(&access, &code)) return code;                                                           \
    return begun(file, WRITES, real_##NAME##_all_begin##SUFFIX(file, data, count, type));                            \
  }                                                                                                                  \
  ALSO_PROFILING(MPI_File_##NAME##_all_begin##SUFFIX);                                                               \
  EXPORT int MPI_File_##NAME##_at_all_begin##SUFFIX(MPI_File file, MPI_Offset offset, CONST void* data, COUNT count, \
                                                    MPI_Datatype type) {                                             \
    const struct plait_mpiio_access access = {.file = file,                                                          \
                                              .writes = WRITES,                                                      \
                                              .begins = 1,                                                           \
                                              .has_offset = 1,                                                       \
                                              .offset = offset,                                                      \
                                              .data = (void*)data,                                                   \
                                              .count = count,                                                        \
                                              .type = type,                                                          \
                                              .status = MPI_STATUS_IGNORE};                                          \
    int code;                                                                                                        \
    if (plait_mpiio_accessed(&access, &code)) return code;                                                           \
    return begun(file, WRITES, real_##NAME##_at_all_begin##SUFFIX(file, offset, data, count, type));                 \
  }                                                                                                                  \
  ALSO_PROFILING(MPI_File_##NAME##_at_all_begin##SUFFIX)

/// The call that ends an access. `ended` returns 1 if Plait has carried out the access.
#define DEFINE_END(NAME, WRITES, CONST)                                                   \
  EXPORT int MPI_File_##NAME##_end(MPI_File file, CONST void* data, MPI_Status* status) { \
    REAL(MPI_File_##NAME##_end);                                                          \
    const struct plait_mpiio_functions* functions = plait_mpiio_active();                 \
    if (functions != NULL && functions->ended(file, WRITES, status)) return MPI_SUCCESS;  \
    return real(file, data, status);                                                      \
  }                                                                                       \
  ALSO_PROFILING(MPI_File_##NAME##_end)

#define DEFINE_REAL(NAME, CONST)                                                                       \
  static int real_##NAME##_all_begin(MPI_File file, CONST void* data, int count, MPI_Datatype type) {  \
    REAL(MPI_File_##NAME##_all_begin);                                                                 \
    return real(file, data, count, type);                                                              \
  }                                                                                                    \
  static int real_##NAME##_at_all_begin(MPI_File file, MPI_Offset offset, CONST void* data, int count, \
                                        MPI_Datatype type) {                                           \
    REAL(MPI_File_##NAME##_at_all_begin);                                                              \
    return real(file, offset, data, count, type);                                                      \
  }

DEFINE_REAL(read, )
DEFINE_REAL(write, const)
DEFINE_BEGIN(read, 0, , int, );
DEFINE_BEGIN(write, 1, const, int, );
DEFINE_END(read_all, 0, );
DEFINE_END(read_at_all, 0, );
DEFINE_END(write_all, 1, const);
DEFINE_END(write_at_all, 1, const);

#if MPI_VERSION >= 4
// An MPI of the same family that is older than the header has no such functions.
#define DEFINE_REAL_C(NAME, CONST)                                                                             \
  static int real_##NAME##_all_begin_c(MPI_File file, CONST void* data, MPI_Count count, MPI_Datatype type) {  \
    REAL(MPI_File_##NAME##_all_begin_c);                                                                       \
    if (real != NULL) return real(file, data, count, type);                                                    \
    return count > INT_MAX ? MPI_ERR_COUNT : real_##NAME##_all_begin(file, data, (int)count, type);            \
  }                                                                                                            \
  static int real_##NAME##_at_all_begin_c(MPI_File file, MPI_Offset offset, CONST void* data, MPI_Count count, \
                                          MPI_Datatype type) {                                                 \
    REAL(MPI_File_##NAME##_at_all_begin_c);                                                                    \
    if (real != NULL) return real(file, offset, data, count, type);                                            \
    return count > INT_MAX ? MPI_ERR_COUNT : real_##NAME##_at_all_begin(file, offset, data, (int)count, type); \
  }

DEFINE_REAL_C(read, )
DEFINE_REAL_C(write, const)
DEFINE_BEGIN(read, 0, , MPI_Count, _c);
DEFINE_BEGIN(write, 1, const, MPI_Count, _c);
#endif
