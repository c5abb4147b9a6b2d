// The functions of MPI-IO that programs call instead of the MPI's.
//
// Problem: a program that was linked with an MPI is to use Plait for its collective accesses, with no change. Its file
// handles must keep working in all functions of MPI-IO, of which there are about ninety.
//
// Idea: the MPI opens the file and keeps its state: view, pointers, info, error handler. Plait watches MPI_File_open,
// MPI_File_set_view and MPI_File_close, and carries collective accesses out where it understands the views of all
// ranks; every other call goes to the MPI unchanged. So a call that Plait does not know is still right.
//
// Example: of MPI_File_set_view, MPI_File_write_all and MPI_File_get_position the MPI carries out the first and the
// third; Plait writes, and then moves the MPI's file pointer by MPI_File_seek, as the third must show.
//
// Each function exists as MPI_File_x and PMPI_File_x, since layers for Fortran call either. Forms with _c exist if the
// MPI's header declares them: mpi4py finds out what an MPI has by looking for symbols.

#include <limits.h>
#include <stddef.h>

#include "mpiio/entry.h"
#include "mpiio/preload/calls.h"

/// Makes a communicator of the ranks that have the library of accesses and the same mode. The others take part, so that
/// no rank waits forever if the library is missing on a host or the settings differ.
static void report_opened(MPI_Comm comm, const char* path, int access_mode, MPI_File file) {
  typedef int (*SplitFunction)(MPI_Comm, int, int, MPI_Comm*);
  typedef int (*SizeFunction)(MPI_Comm, int*);
  typedef int (*FreeFunction)(MPI_Comm*);
  const SplitFunction split = (SplitFunction)plait_mpiio_real("PMPI_Comm_split");
  const SizeFunction size = (SizeFunction)plait_mpiio_real("PMPI_Comm_size");
  const FreeFunction release = (FreeFunction)plait_mpiio_real("PMPI_Comm_free");
  const struct plait_mpiio_functions* functions = plait_mpiio_load();
  struct plait_mpiio_opened opened = {
      .file = file, .path = path, .access_mode = access_mode, .mode = plait_mpiio_mode()};
  const int color = functions != NULL ? opened.mode : PLAIT_MPIIO_OFF;
  if (size(comm, &opened.ranks) != MPI_SUCCESS || split(comm, color, 0, &opened.comm) != MPI_SUCCESS) return;
  if (functions != NULL)
    functions->opened(&opened);
  else
    release(&opened.comm);
}

EXPORT int MPI_File_open(MPI_Comm comm, const char* path, int access_mode, MPI_Info info, MPI_File* file) {
  REAL(MPI_File_open);
  const int code = real(comm, path, access_mode, info, file);
  if (code == MPI_SUCCESS && plait_mpiio_mode() != PLAIT_MPIIO_OFF) report_opened(comm, path, access_mode, *file);
  return code;
}
ALSO_PROFILING(MPI_File_open);

EXPORT int MPI_File_close(MPI_File* file) {
  REAL(MPI_File_close);
  const struct plait_mpiio_functions* functions = plait_mpiio_active();
  if (functions != NULL && file != NULL) functions->closing(*file);
  return real(file);
}
ALSO_PROFILING(MPI_File_close);

EXPORT int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                             const char* representation, MPI_Info info) {
  REAL(MPI_File_set_view);
  const int code = real(file, displacement, etype, filetype, representation, info);
  const struct plait_mpiio_functions* functions = plait_mpiio_active();
  if (functions != NULL) {
    const struct plait_mpiio_view view = {file, code == MPI_SUCCESS, displacement, etype, filetype, representation};
    functions->viewed(&view);
  }
  return code;
}
ALSO_PROFILING(MPI_File_set_view);

// Each collective access in two forms: at the individual file pointer and at an offset.
#define DEFINE_ACCESSES(NAME, WRITES, CONST, COUNT, SUFFIX)                                                          \
  EXPORT int MPI_File_##NAME##_all##SUFFIX(MPI_File file, CONST void* data, COUNT count, MPI_Datatype type,          \
                                           MPI_Status* status) {                                                     \
    const struct plait_mpiio_access access = {file, WRITES, 0, 0, 0, (void*)data, count, type, status};              \
    int code;                                                                                                        \
    return plait_mpiio_accessed(&access, &code) ? code : real_##NAME##_all##SUFFIX(file, data, count, type, status); \
  }                                                                                                                  \
  ALSO_PROFILING(MPI_File_##NAME##_all##SUFFIX);                                                                     \
  EXPORT int MPI_File_##NAME##_at_all##SUFFIX(MPI_File file, MPI_Offset offset, CONST void* data, COUNT count,       \
                                              MPI_Datatype type, MPI_Status* status) {                               \
    const struct plait_mpiio_access access = {file, WRITES, 0, 1, offset, (void*)data, count, type, status};         \
    int code;                                                                                                        \
    return plait_mpiio_accessed(&access, &code)                                                                      \
               ? code                                                                                                \
               : real_##NAME##_at_all##SUFFIX(file, offset, data, count, type, status);                              \
  }                                                                                                                  \
  ALSO_PROFILING(MPI_File_##NAME##_at_all##SUFFIX)

#define DEFINE_REAL(NAME, CONST)                                                                                    \
  static int real_##NAME##_all(MPI_File file, CONST void* data, int count, MPI_Datatype type, MPI_Status* status) { \
    REAL(MPI_File_##NAME##_all);                                                                                    \
    return real(file, data, count, type, status);                                                                   \
  }                                                                                                                 \
  static int real_##NAME##_at_all(MPI_File file, MPI_Offset offset, CONST void* data, int count, MPI_Datatype type, \
                                  MPI_Status* status) {                                                             \
    REAL(MPI_File_##NAME##_at_all);                                                                                 \
    return real(file, offset, data, count, type, status);                                                           \
  }

DEFINE_REAL(read, )
DEFINE_REAL(write, const)
DEFINE_ACCESSES(read, 0, , int, );
DEFINE_ACCESSES(write, 1, const, int, );

#if MPI_VERSION >= 4
// An MPI of the same family that is older than the header has no such functions.
#define DEFINE_REAL_C(NAME, CONST)                                                                               \
  static int real_##NAME##_all_c(MPI_File file, CONST void* data, MPI_Count count, MPI_Datatype type,            \
                                 MPI_Status* status) {                                                           \
    REAL(MPI_File_##NAME##_all_c);                                                                               \
    if (real != NULL) return real(file, data, count, type, status);                                              \
    return count > INT_MAX ? MPI_ERR_COUNT : real_##NAME##_all(file, data, (int)count, type, status);            \
  }                                                                                                              \
  static int real_##NAME##_at_all_c(MPI_File file, MPI_Offset offset, CONST void* data, MPI_Count count,         \
                                    MPI_Datatype type, MPI_Status* status) {                                     \
    REAL(MPI_File_##NAME##_at_all_c);                                                                            \
    if (real != NULL) return real(file, offset, data, count, type, status);                                      \
    return count > INT_MAX ? MPI_ERR_COUNT : real_##NAME##_at_all(file, offset, data, (int)count, type, status); \
  }

DEFINE_REAL_C(read, )
DEFINE_REAL_C(write, const)
DEFINE_ACCESSES(read, 0, , MPI_Count, _c);
DEFINE_ACCESSES(write, 1, const, MPI_Count, _c);
#endif
