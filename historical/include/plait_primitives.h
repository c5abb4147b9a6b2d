/**
 * The runtime primitives for parallel I/O of Bordawekar's thesis (1993, section 5.2), in C.  Link with plait::mpi.
 *
 * Every rank of MPI_COMM_WORLD makes each call with equal arguments (except for its own arrays), and all get the same
 * status and the same message (plait_message(NULL)); no call ends the program.  If the program has not initialised MPI,
 * the first call does, and MPI is finalised when the program ends with exit status 0.  With another status it is not
 * finalised, so that the launcher ends the other ranks.  A program that initialises MPI itself does so before its first
 * primitive.  One thread at a time.
 *
 * Arrays are in Fortran order (the first index varies fastest), in the file and on the ranks; a file holds nothing but
 * the elements.  Lists have seven entries, one a dimension; -1 ends a list and stands for "don't care".
 * docs/reference/primitives.md has the arguments, codes, tables and errors.
 */
#ifndef PLAIT_PRIMITIVES_H
#define PLAIT_PRIMITIVES_H

#include <plait.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** `access`, `form` and `status` of plait_popen. */
enum { PLAIT_SEQUENTIAL = 0, PLAIT_DIRECT = 1 };
enum { PLAIT_UNFORMATTED = 0, PLAIT_FORMATTED = 1 };
enum { PLAIT_OLD = 0, PLAIT_NEW = 1 };
/** Entries of `distr_info`. */
enum { PLAIT_COLLAPSED = 0, PLAIT_BLOCK = 1, PLAIT_CYCLIC = 2, PLAIT_BLOCK_CYCLIC = 3 };
/** `map_mode` of plait_proc_map. */
enum { PLAIT_USER_MAP = -1, PLAIT_COLUMN_MAJOR = 0, PLAIT_ROW_MAJOR = 1, PLAIT_SNAKE = 2 };

/**
 * Opens `file` for `unit` (0 or more, not in use).  NEW: the file must not exist or be open in another unit; it
 * appears under its name, complete, at plait_pclose.  OLD: it is opened for reading and writing or, if that is not
 * permitted, for reading.
 * SEQUENTIAL accesses continue at the end of the previous access of the unit; DIRECT ones start at offset 0.
 * `pipe:NAME` is a pipe to another program, which opens the same name with the other status: NEW writes, OLD reads, and
 * each access is a step.
 * *no_of_disks  The requested number of disks; -1, NULL, or more than exist: all.  It is set to the number of disks of
 *               the file; 0 for a pipe.
 * no_of_processors  The ranks that read and write the file, 1 to P: ranks 0 to no_of_processors - 1 on one node,
 *               as many on each of several nodes as its size allows (fewer if an array has fewer storage units, of
 *               which each takes whole ones); -1: the fastest number of all ranks.
 * errors  PLAIT_ERROR_ARGUMENT: FORMATTED, an unknown code, a unit in use.  PLAIT_ERROR_SYSTEM: no such file, NEW and
 *         it exists, no permission.
 */
plait_status plait_popen(int unit, const char* file, int access, int form, int status, int* no_of_disks,
                         int no_of_processors);

/** Closes a unit.  A NEW file appears under its name, and all writes are durable.  If a file of that name
 *  exists by then, PLAIT_ERROR_SYSTEM is returned and the unit stays open. */
plait_status plait_pclose(int unit);

/**
 * Describes an array of `size_info` elements whose dimensions are distributed as `distr_info` says to `proc_info`
 * ranks; `block_size` matters for BLOCK-CYCLIC dimensions.  The name is for messages and tables.
 * Returns a descriptor, 1 or more, or the negative of a status.  The elements are 4 bytes long until plait_array_type.
 */
int plait_array_map(const char* array_name, const int64_t size_info[7], const int distr_info[7],
                    const int64_t block_size[7], const int proc_info[7]);

/** Sets the element type of an array: `REAL*8`, `COMPLEX*16`, `DOUBLE PRECISION`, `CHARACTER*n`, n bytes. */
plait_status plait_array_type(int array_descriptor, const char* type);

/**
 * Makes the logical grid of processors, which accesses of arrays with the same proc_info use from now on.
 * map_mode  0: the first coordinate varies fastest with the rank, 1: the last one does, 2: as 0, but in a snake, so
 *           that successive ranks are neighbours; -1: `user_map` has the rank of each position, in the order of mode 0.
 *           Other modes ignore `user_map`.
 * A -1 before a later positive entry of proc_info counts as 1, unless the entries before it make up all ranks.
 */
plait_status plait_proc_map(const int proc_info[7], int map_mode, const int* user_map);

/**
 * Reads the array of a descriptor from a unit; every rank gets its share.  The share is in the corner of the local
 * array, which is declared for the largest share (n1, n2, n3, ...) of all ranks: as A(size1, n2, n3, ...) if size1
 * >= n1 and size2 >= n2*n3*...; as A(n1, n2, n3, ...) if size1 is n1*n2 (or n1*n2*n3, ...) and size2 at least the
 * product of the others.  It is dense if size2 is 1 and, in 1 or 2 dimensions, if it does not fit.  Sizes that are too
 * small for the largest share refer to the rank's own share instead.
 * io_size   Elements of io_buffer: the maximum that a rank stages (at least 4).  -1: PLAIT_MEMORY, or 32 MiB.
 * io_buffer Is not used and may be NULL.
 * errors    PLAIT_ERROR_ARGUMENT: no such unit or descriptor, another grid in force, a local array too small for some
 *           rank's share, or sizes that do not determine its position.
 *           PLAIT_ERROR_SYSTEM: the file ends too early.  The local arrays are undefined after an error; the position
 *           of the unit stays.
 */
plait_status plait_pread(void* array_name, int64_t size1, int64_t size2, int array_descriptor, int unit,
                         void* io_buffer, int64_t io_size);

/** Writes the array of a descriptor to a unit, with the arguments of plait_pread. */
plait_status plait_pwrite(const void* array_name, int64_t size1, int64_t size2, int array_descriptor, int unit,
                          void* io_buffer, int64_t io_size);

/** The next three functions return rows of the tables as integers.  They are not collective, and return
 *  PLAIT_ERROR_ARGUMENT if no other primitive was called before. */
/** FDA (table 12): unit, access, form, status, disks, processors. */
plait_status plait_fda(int unit, int row[6]);
/** ADT (table 13), row by row: global size, distribution code, block size, processors, of seven dimensions. */
plait_status plait_adt(int array_descriptor, int64_t table[28]);
/** P_INFO (table 14), row by row: N rows of coordinates and one of ranks, of P columns.  `capacity` is the capacity of
 *  `table`; `rows` and `columns` return the required size and may be NULL; `table` may be NULL if `capacity` is 0. */
plait_status plait_p_info(int64_t capacity, int* table, int* rows, int* columns);

/** Prints the tables on the standard output of rank 0.  Not collective. */
plait_status plait_print_fda(void);
plait_status plait_print_adt(int array_descriptor);
plait_status plait_print_p_info(void);

#ifdef __cplusplus
}
#endif

#endif
