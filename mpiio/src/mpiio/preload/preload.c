// The functions of MPI-IO that programs call instead of the MPI's.
//
// Problem: a program that was linked with an MPI is to use Plait for its collective accesses, with no change. Its file
// handles must keep working in all functions of MPI-IO, of which there are about ninety.
//
// Idea: the MPI opens the file and keeps its state: pointers, info, error handler, and views. Plait watches
// MPI_File_open, MPI_File_set_view and MPI_File_close, and carries collective accesses out where it understands the
// views of all ranks. It may hold a view, with the file pointer, for the MPI; then all calls that depend on either are
// watched as well (independent.c). Every other call goes to the MPI unchanged.
//
// Example: of MPI_File_set_view, MPI_File_write_all and MPI_File_get_position on a file whose view Plait does not hold,
// the MPI carries out the first and the third; Plait writes, and then moves the MPI's file pointer by MPI_File_seek, as
// the third must show. Plait carries out all three if it holds the view.
//
// Each function exists as MPI_File_x and PMPI_File_x, since layers for Fortran call either. Forms with _c exist if the
// MPI's header declares them: mpi4py finds out what an MPI has by looking for symbols.

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mpiio/entry.h"
#include "mpiio/preload/calls.h"
#include "mpiio/preload/communicator.h"
#include "mpiio/preload/descriptor.h"

static int has_invalid_communicator(int code) {
  FIND(find_class, MPI_Error_class);
  int class = MPI_SUCCESS;
  return code != MPI_SUCCESS && find_class(code, &class) == MPI_SUCCESS && class == MPI_ERR_COMM;
}

/// Finds the ranks that have the library of accesses and the same mode. Each rank of the file takes part, so that no
/// rank waits if the library is missing on a host, the settings differ or PLAIT_MPIIO is off: the others notice that
/// ranks are missing.
///
/// If the split fails on some ranks only, these leave the file to the MPI, and the others wait for them in the next
/// collective access. Ranks cannot agree on that, as this takes a communicator that works.
static void report_opened(MPI_Comm comm, int is_open, struct plait_mpiio_opened* opened) {
  opened->mode = plait_mpiio_mode();
  const struct plait_mpiio_functions* functions = opened->mode != PLAIT_MPIIO_OFF ? plait_mpiio_load() : NULL;
  opened->release = plait_mpiio_release;
  opened->ranks = plait_mpiio_find_ranks(comm, functions != NULL ? opened->mode : -1, &opened->tag);
  if (opened->ranks == NULL) return;
  if (functions != NULL) functions->opening(opened->ranks, opened->tag);
  if (functions != NULL && is_open)
    functions->opened(opened);
  else
    plait_mpiio_release(opened->ranks);
}

/// True for files of which Plait carries out no access: sequential ones, and those whose name chooses a file system of
/// the MPI, such as `ufs:name`. All ranks find the same, since MPI requires the same access mode and file of them.
static int belongs_to_mpi(const char* path, int access_mode) {
  if ((access_mode & MPI_MODE_SEQUENTIAL) != 0) return 1;
  return path != NULL && path[strcspn(path, ":/")] == ':';
}

static void explain_skipped(MPI_Comm comm, const char* path) {
  FIND(find_rank, MPI_Comm_rank);
  int rank;
  if ((plait_mpiio_mode() & (PLAIT_MPIIO_EXPLAIN | PLAIT_MPIIO_STRICT)) == 0) return;
  if (find_rank(comm, &rank) != MPI_SUCCESS || rank != 0) return;
  fprintf(stderr,
          "plait mpiio: %s: the MPI carries out all accesses, because the file is in sequential mode, or its name "
          "begins with a prefix\n",
          path);
}

EXPORT int MPI_File_open(MPI_Comm comm, const char* path, int access_mode, MPI_Info info, MPI_File* file) {
  REAL(MPI_File_open);
  plait_mpiio_watch(path);
  const int code = real(comm, path, access_mode, info, file);
  const int descriptor = plait_mpiio_unwatch();
  if (!belongs_to_mpi(path, access_mode)) {
    struct plait_mpiio_opened opened = {.path = path, .descriptor = descriptor, .access_mode = access_mode};
    if (code == MPI_SUCCESS) opened.file = *file;
    if (!has_invalid_communicator(code)) report_opened(comm, code == MPI_SUCCESS, &opened);
  } else if (code == MPI_SUCCESS) {
    explain_skipped(comm, path);
  }
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
  const struct plait_mpiio_functions* functions = plait_mpiio_active();
  const struct plait_mpiio_view view = {file, displacement, etype, filetype, representation, info};
  if (functions != NULL && functions->viewing(&view)) return MPI_SUCCESS;
  const int code = real(file, displacement, etype, filetype, representation, info);
  if (functions != NULL) functions->viewed(file, code == MPI_SUCCESS);
  return code;
}
ALSO_PROFILING(MPI_File_set_view);

// Each collective access in two forms: at the individual file pointer and at an offset.
#define DEFINE_ACCESSES(NAME, WRITES, CONST, COUNT, SUFFIX)                                                          \
  EXPORT int MPI_File_##NAME##_all##SUFFIX(MPI_File file, CONST void* data, COUNT count, MPI_Datatype type,          \
                                           MPI_Status* status) {                                                     \
    const struct plait_mpiio_access access = {                                                                       \
        .file = file, .writes = WRITES, .data = (void*)data, .count = count, .type = type, .status = status};        \
    int code;                                                                                                        \
    return plait_mpiio_accessed(&access, &code) ? code : real_##NAME##_all##SUFFIX(file, data, count, type, status); \
  }                                                                                                                  \
  ALSO_PROFILING(MPI_File_##NAME##_all##SUFFIX);                                                                     \
  EXPORT int MPI_File_##NAME##_at_all##SUFFIX(MPI_File file, MPI_Offset offset, CONST void* data, COUNT count,       \
                                              MPI_Datatype type, MPI_Status* status) {                               \
    const struct plait_mpiio_access access = {.file = file,                                                          \
                                              .writes = WRITES,                                                      \
                                              .has_offset = 1,                                                       \
                                              .offset = offset,                                                      \
                                              .data = (void*)data,                                                   \
                                              .count = count,                                                        \
                                              .type = type,                                                          \
                                              .status = status};                                                     \
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
