// Calls that depend on views and file pointers, and that the MPI carries out.
//
// Plait may hold a view: it has stored the view and not set it in the MPI. Then these calls get another handle with the
// view, or the view is set in the MPI before. view_calls.cpp decides which.

#include <limits.h>
#include <stddef.h>

#include "mpiio/preload/calls.h"

/// Returns the library of accesses while it holds any view.
static const struct plait_mpiio_functions* holding(void) {
  const struct plait_mpiio_functions* functions = plait_mpiio_active();
  return functions != NULL && __atomic_load_n(functions->held, __ATOMIC_ACQUIRE) != 0 ? functions : NULL;
}

/// Calls the MPI with the handle that the call needs.
#define CALL_ROUTED(USE, ...)                                     \
  const struct plait_mpiio_functions* functions = holding();      \
  MPI_File target = file;                                         \
  void* call = NULL;                                              \
  if (functions != NULL) {                                        \
    const int code = functions->route(file, USE, &target, &call); \
    if (code != MPI_SUCCESS) return code;                         \
  }                                                               \
  const int code = real(target, __VA_ARGS__);                     \
  return call != NULL ? functions->routed(call, USE, code) : code

#define DEFINE_AT(NAME, CONST, LAST)                                                                           \
  EXPORT int MPI_File_##NAME(MPI_File file, MPI_Offset offset, CONST void* data, int count, MPI_Datatype type, \
                             LAST* last) {                                                                     \
    REAL(MPI_File_##NAME);                                                                                     \
    CALL_ROUTED(PLAIT_MPIIO_VIEW, offset, data, count, type, last);                                            \
  }                                                                                                            \
  ALSO_PROFILING(MPI_File_##NAME)

#define DEFINE_NEXT(NAME, USE, CONST, LAST)                                                               \
  EXPORT int MPI_File_##NAME(MPI_File file, CONST void* data, int count, MPI_Datatype type, LAST* last) { \
    REAL(MPI_File_##NAME);                                                                                \
    CALL_ROUTED(USE, data, count, type, last);                                                            \
  }                                                                                                       \
  ALSO_PROFILING(MPI_File_##NAME)

#define DEFINE_BEGIN(NAME, CONST)                                                             \
  EXPORT int MPI_File_##NAME(MPI_File file, CONST void* data, int count, MPI_Datatype type) { \
    REAL(MPI_File_##NAME);                                                                    \
    CALL_ROUTED(PLAIT_MPIIO_ALL, data, count, type);                                          \
  }                                                                                           \
  ALSO_PROFILING(MPI_File_##NAME)

DEFINE_AT(read_at, , MPI_Status);
DEFINE_AT(write_at, const, MPI_Status);
DEFINE_AT(iread_at, , MPI_Request);
DEFINE_AT(iwrite_at, const, MPI_Request);
DEFINE_AT(iread_at_all, , MPI_Request);
DEFINE_AT(iwrite_at_all, const, MPI_Request);
DEFINE_NEXT(read, PLAIT_MPIIO_POINTER, , MPI_Status);
DEFINE_NEXT(write, PLAIT_MPIIO_POINTER, const, MPI_Status);
DEFINE_NEXT(iread, PLAIT_MPIIO_POINTER, , MPI_Request);
DEFINE_NEXT(iwrite, PLAIT_MPIIO_POINTER, const, MPI_Request);
DEFINE_NEXT(iread_all, PLAIT_MPIIO_POINTER, , MPI_Request);
DEFINE_NEXT(iwrite_all, PLAIT_MPIIO_POINTER, const, MPI_Request);
DEFINE_NEXT(read_shared, PLAIT_MPIIO_SHARED, , MPI_Status);
DEFINE_NEXT(write_shared, PLAIT_MPIIO_SHARED, const, MPI_Status);
DEFINE_NEXT(iread_shared, PLAIT_MPIIO_SHARED, , MPI_Request);
DEFINE_NEXT(iwrite_shared, PLAIT_MPIIO_SHARED, const, MPI_Request);
DEFINE_NEXT(read_ordered, PLAIT_MPIIO_ALL, , MPI_Status);
DEFINE_NEXT(write_ordered, PLAIT_MPIIO_ALL, const, MPI_Status);
DEFINE_BEGIN(read_ordered_begin, );
DEFINE_BEGIN(write_ordered_begin, const);

#if MPI_VERSION >= 4
// An MPI of the same family that is older than the header has no such functions.
#define DEFINE_AT_C(NAME, CONST, LAST)                                                                      \
  EXPORT int MPI_File_##NAME##_c(MPI_File file, MPI_Offset offset, CONST void* data, MPI_Count count,       \
                                 MPI_Datatype type, LAST* last) {                                           \
    REAL(MPI_File_##NAME##_c);                                                                              \
    if (real == NULL)                                                                                       \
      return count > INT_MAX ? MPI_ERR_COUNT : MPI_File_##NAME(file, offset, data, (int)count, type, last); \
    CALL_ROUTED(PLAIT_MPIIO_VIEW, offset, data, count, type, last);                                         \
  }                                                                                                         \
  ALSO_PROFILING(MPI_File_##NAME##_c)

#define DEFINE_NEXT_C(NAME, USE, CONST, LAST)                                                                       \
  EXPORT int MPI_File_##NAME##_c(MPI_File file, CONST void* data, MPI_Count count, MPI_Datatype type, LAST* last) { \
    REAL(MPI_File_##NAME##_c);                                                                                      \
    if (real == NULL) return count > INT_MAX ? MPI_ERR_COUNT : MPI_File_##NAME(file, data, (int)count, type, last); \
    CALL_ROUTED(USE, data, count, type, last);                                                                      \
  }                                                                                                                 \
  ALSO_PROFILING(MPI_File_##NAME##_c)

#define DEFINE_BEGIN_C(NAME, CONST)                                                                           \
  EXPORT int MPI_File_##NAME##_c(MPI_File file, CONST void* data, MPI_Count count, MPI_Datatype type) {       \
    REAL(MPI_File_##NAME##_c);                                                                                \
    if (real == NULL) return count > INT_MAX ? MPI_ERR_COUNT : MPI_File_##NAME(file, data, (int)count, type); \
    CALL_ROUTED(PLAIT_MPIIO_ALL, data, count, type);                                                          \
  }                                                                                                           \
  ALSO_PROFILING(MPI_File_##NAME##_c)

DEFINE_AT_C(read_at, , MPI_Status);
DEFINE_AT_C(write_at, const, MPI_Status);
DEFINE_AT_C(iread_at, , MPI_Request);
DEFINE_AT_C(iwrite_at, const, MPI_Request);
DEFINE_AT_C(iread_at_all, , MPI_Request);
DEFINE_AT_C(iwrite_at_all, const, MPI_Request);
DEFINE_NEXT_C(read, PLAIT_MPIIO_POINTER, , MPI_Status);
DEFINE_NEXT_C(write, PLAIT_MPIIO_POINTER, const, MPI_Status);
DEFINE_NEXT_C(iread, PLAIT_MPIIO_POINTER, , MPI_Request);
DEFINE_NEXT_C(iwrite, PLAIT_MPIIO_POINTER, const, MPI_Request);
DEFINE_NEXT_C(iread_all, PLAIT_MPIIO_POINTER, , MPI_Request);
DEFINE_NEXT_C(iwrite_all, PLAIT_MPIIO_POINTER, const, MPI_Request);
DEFINE_NEXT_C(read_shared, PLAIT_MPIIO_SHARED, , MPI_Status);
DEFINE_NEXT_C(write_shared, PLAIT_MPIIO_SHARED, const, MPI_Status);
DEFINE_NEXT_C(iread_shared, PLAIT_MPIIO_SHARED, , MPI_Request);
DEFINE_NEXT_C(iwrite_shared, PLAIT_MPIIO_SHARED, const, MPI_Request);
DEFINE_NEXT_C(read_ordered, PLAIT_MPIIO_ALL, , MPI_Status);
DEFINE_NEXT_C(write_ordered, PLAIT_MPIIO_ALL, const, MPI_Status);
DEFINE_BEGIN_C(read_ordered_begin, );
DEFINE_BEGIN_C(write_ordered_begin, const);
#endif

EXPORT int MPI_File_seek(MPI_File file, MPI_Offset offset, int whence) {
  REAL(MPI_File_seek);
  const struct plait_mpiio_functions* held = holding();
  if (held != NULL && held->seek(file, offset, whence)) return MPI_SUCCESS;
  CALL_ROUTED(PLAIT_MPIIO_POINTER, offset, whence);
}
ALSO_PROFILING(MPI_File_seek);

EXPORT int MPI_File_get_position(MPI_File file, MPI_Offset* position) {
  REAL(MPI_File_get_position);
  const struct plait_mpiio_functions* held = holding();
  if (held != NULL && held->position(file, position)) return MPI_SUCCESS;
  return real(file, position);
}
ALSO_PROFILING(MPI_File_get_position);

EXPORT int MPI_File_get_view(MPI_File file, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                             char* representation) {
  REAL(MPI_File_get_view);
  const struct plait_mpiio_functions* held = holding();
  const struct plait_mpiio_stored_view stored = {displacement, etype, filetype, representation};
  int code;
  if (held != NULL && held->view(file, &stored, &code)) return code;
  return real(file, displacement, etype, filetype, representation);
}
ALSO_PROFILING(MPI_File_get_view);

EXPORT int MPI_File_get_byte_offset(MPI_File file, MPI_Offset offset, MPI_Offset* displacement) {
  REAL(MPI_File_get_byte_offset);
  CALL_ROUTED(PLAIT_MPIIO_VIEW, offset, displacement);
}
ALSO_PROFILING(MPI_File_get_byte_offset);

EXPORT int MPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
  REAL(MPI_File_seek_shared);
  CALL_ROUTED(PLAIT_MPIIO_ALL, offset, whence);
}
ALSO_PROFILING(MPI_File_seek_shared);

EXPORT int MPI_File_get_position_shared(MPI_File file, MPI_Offset* position) {
  REAL(MPI_File_get_position_shared);
  CALL_ROUTED(PLAIT_MPIIO_SHARED, position);
}
ALSO_PROFILING(MPI_File_get_position_shared);

/// Plait carries out no atomic accesses, so that it holds no view in atomic mode.
EXPORT int MPI_File_set_atomicity(MPI_File file, int is_atomic) {
  REAL(MPI_File_set_atomicity);
  CALL_ROUTED(PLAIT_MPIIO_ALL, is_atomic);
}
ALSO_PROFILING(MPI_File_set_atomicity);

/// The hints that come with a held view would replace these later.
EXPORT int MPI_File_set_info(MPI_File file, MPI_Info info) {
  REAL(MPI_File_set_info);
  CALL_ROUTED(PLAIT_MPIIO_ALL, info);
}
ALSO_PROFILING(MPI_File_set_info);
