/**
 * The C interface of Plait: distributed arrays between memory, files and ranks.  C11, and C++.  Link with plait::plait;
 * communicators of MPI come from plait_mpi.h and plait::mpi.  docs/guides/c.md has a whole program.
 *
 * status    Every function returns a plait_status, except plait_message, plait_system_code, plait_version and
 *           plait_alone.  No call ends the program.
 * messages  plait_message(handle) returns the text of the last error on a handle, which is the first handle argument of
 *           the failed call; plait_message(NULL) returns the text of the last error in this thread, for calls that
 *           failed to create a handle.  Messages state what was found, what was expected and what to do.  A text is
 *           valid until the next error on that handle (or thread).
 * outputs   Pointers, at the end of the argument list.  After an error handles and texts are NULL, other outputs are
 *           unchanged.
 * handles   Each kind has a function that frees the handle.  It takes the handle's address, sets the handle to NULL,
 *           and accepts one that is NULL already; all other functions report a NULL handle as an error.  A handle may
 *           be freed while others that were made with it are still used.  Texts that a call returns are freed by
 *           plait_text_free.
 * options   Structures begin with their own size, so that later versions can add members: set everything to zero, then
 *           `size` to sizeof the structure.  Zero is the default of every member.  NULL stands for all defaults.
 * sizes     64 bits; counted in elements unless stated otherwise, memory and offsets in bytes.  Indices and ranks begin
 *           with 0.
 * collective  calls are made by all processes of the communicator with equal arguments (except for their own arrays),
 *           and all get the same status and the same message, even if only one of them passes a wrong argument.  One
 *           exception: an invalid handle of the communicator, file, stream or plan itself is an error of that process
 *           alone, because it cannot reach the others, which wait for it.
 * threads   One thread at a time for each file, stream, request, plan and shared memory.  Layouts, conversions and
 *           communicators may be used by many; plait_message of one of these is the error of the calling thread.
 */
#ifndef PLAIT_H
#define PLAIT_H

#include <stddef.h>
#include <stdint.h>

#include "plait/attributes.h"
#include "plait/steps.h"
#include "plait/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors and texts ---- */

/** The last error on a handle, or in this thread if it is NULL; "" if there was none. */
const char* plait_message(const void* handle);
/** The errno of that error, 0 if it has none. */
int plait_system_code(const void* handle);
plait_status plait_text_free(char** text);
/** "0.1.0" */
const char* plait_version(void);

/* ---- Communicators: the processes that take part.  See also plait_mpi.h. ---- */

/** This process alone, which holds the parts of all ranks of a layout.  Always valid; not to be freed. */
const plait_comm* plait_alone(void);
/** The processes of this job, all on one host: those that `plait run` has started, or a shell that set PLAIT_JOB,
 *  PLAIT_SIZE and PLAIT_RANK for each of them; one rank if none of these is set.  Collective; the first call waits at
 *  most `seconds` for the others (docs/guides/without-mpi.md).  If MPI's launcher has started the program, use the
 *  communicator of plait_mpi.h. */
plait_status plait_comm_world(double seconds, plait_comm** comm);
/** Waits until all processes have made this call.  Collective. */
plait_status plait_comm_barrier(const plait_comm* comm);
plait_status plait_comm_rank(const plait_comm* comm, int* rank);
plait_status plait_comm_size(const plait_comm* comm, int* size);
/** Must be called before MPI_Finalize, as must the free functions of all handles that were made with it.  Not
 *  collective. */
plait_status plait_comm_free(plait_comm** comm);

/* ---- Layouts: distributions of arrays over ranks.  Pure: no MPI, no I/O. ---- */

/** Reads `8x12 (block, cyclic(3)) onto (2, 2) order=F`; docs/reference/notation.md. */
plait_status plait_layout_parse(const char* text, plait_layout** layout);
/** Reads a text that may omit the shape. */
plait_status plait_layout_parse_shape(const char* text, int dimensions, const int64_t* shape, plait_layout** layout);
plait_status plait_layout_free(plait_layout** layout);
/** The text of the normal form, which equal layouts share.  The caller frees it. */
plait_status plait_layout_text(const plait_layout* layout, char** text);
/** 1 if the two layouts give the same elements to the same ranks in the same local order, else 0. */
plait_status plait_layout_equal(const plait_layout* layout, const plait_layout* other, int* equal);
plait_status plait_layout_dimensions(const plait_layout* layout, int* dimensions);
/** The shape of the array.  Here and below `capacity` is the capacity of the output; an error if it is too small. */
plait_status plait_layout_shape(const plait_layout* layout, int capacity, int64_t* shape);
/** The elements of the whole array. */
plait_status plait_layout_elements(const plait_layout* layout, int64_t* elements);
/** The number of ranks that hold a part (which may be empty), and the largest such rank plus one. */
plait_status plait_layout_ranks(const plait_layout* layout, int64_t* ranks, int64_t* ranks_end);
plait_status plait_layout_has_rank(const plait_layout* layout, int64_t rank, int* has_rank);
/** The ranks that hold a part, ascending; plait_layout_ranks returns their number. */
plait_status plait_layout_rank_numbers(const plait_layout* layout, int64_t capacity, int64_t* numbers);
/** The shape of the part that a rank owns, and its shape with the halo, which local arrays in memory have. */
plait_status plait_layout_local_shape(const plait_layout* layout, int64_t rank, int capacity, int64_t* shape);
plait_status plait_layout_padded_shape(const plait_layout* layout, int64_t rank, int capacity, int64_t* shape);
/** The dimensions of local arrays, slowest first. */
plait_status plait_layout_order(const plait_layout* layout, int capacity, int* order);
/** The indices of one dimension that a rank owns, in the order of its local array: local_shape[dimension] of them. */
plait_status plait_layout_indices(const plait_layout* layout, int64_t rank, int dimension, int64_t capacity,
                                  int64_t* indices);
/** The ranks that own an element, ascending, and their number; with capacity 0 `owners` may be NULL, to get only
 *  `count`. */
plait_status plait_layout_owners(const plait_layout* layout, const int64_t* index, int64_t capacity, int64_t* owners,
                                 int64_t* count);
/** The position of an element in the owned part of a rank's local array, and the inverse.  One number per dimension. */
plait_status plait_layout_to_local(const plait_layout* layout, const int64_t* index, int64_t rank, int64_t* local);
plait_status plait_layout_to_global(const plait_layout* layout, const int64_t* local, int64_t rank, int64_t* index);
/** The number of local arrays that this process holds under a layout (with MPI 0 or 1, otherwise those of all ranks),
 *  and their size in bytes. */
plait_status plait_layout_held(const plait_layout* layout, const plait_comm* comm, int64_t element_bytes,
                               int64_t* arrays, int64_t* bytes);

/* ---- Conversions: the messages that move arrays from one layout to another.  Pure. ---- */

/** The traffic with another rank: elements, and the number of runs that are contiguous on both sides. */
typedef struct plait_traffic {
  int64_t rank;
  int64_t elements;
  int64_t runs;
} plait_traffic;

/** Creates the conversion from the layout `source` to the layout `target`, with or without the target's halo. */
plait_status plait_conversion_create(const plait_layout* source, const plait_layout* target, int fill_halo,
                                     plait_conversion** conversion);
plait_status plait_conversion_free(plait_conversion** conversion);
/** The traffic that a rank sends, or receives, by ascending rank of the partner; `traffic` may be NULL with capacity 0.
 */
plait_status plait_conversion_sends(const plait_conversion* conversion, int64_t rank, int64_t capacity,
                                    plait_traffic* traffic, int64_t* count);
plait_status plait_conversion_receives(const plait_conversion* conversion, int64_t rank, int64_t capacity,
                                       plait_traffic* traffic, int64_t* count);
/** The block size: the minimum length of a run, in elements. */
plait_status plait_conversion_block(const plait_conversion* conversion, int64_t* block);
plait_status plait_conversion_explain(const plait_conversion* conversion, char** text);

/* ---- Local arrays ----
 *
 * With MPI a process passes the local array of the layout's rank with its number, or none if the layout has no such
 * rank.  Without MPI the process passes the local arrays of all ranks of the layout, by ascending rank.  A local array
 * has its padded shape.  There are two ways to pass them:
 *   data, bytes   Dense, in the layout's local order; several arrays follow each other directly.  `bytes` is the size
 *                 of the buffer at `data`, at least what plait_layout_held returns, or PLAIT_UNKNOWN.  NULL and 0 if
 *                 there is no local array.
 *   parts, count  One by one, each with its own strides (the functions that end with _parts).
 */

typedef struct plait_part {
  void* data;             /**< the array's first element */
  int64_t bytes;          /**< the size of the buffer from `data` on, or PLAIT_UNKNOWN */
  const int64_t* strides; /**< the strides of the dimensions in bytes, which may be negative; NULL: dense */
} plait_part;

typedef struct plait_const_part {
  const void* data;
  int64_t bytes;
  const int64_t* strides;
} plait_const_part;

/* ---- Files ---- */

typedef struct plait_open_options {
  size_t size;           /**< sizeof(plait_open_options) */
  const int64_t* shape;  /**< shape of the array; needed for new and raw files, checked otherwise */
  int dimensions;        /**< the length of `shape` */
  const char* dtype;     /**< as .npy files spell it: "<f8", "<i4"; needed for new .npy files */
  int64_t element_bytes; /**< instead of dtype for raw files; checked otherwise */
  const char* order;     /**< order of a new or raw file: "C" (default) or "F" */
  int64_t offset;        /**< raw files: offset of the array in bytes */
  int64_t memory;        /**< upper limit of a rank's staging memory in bytes; default PLAIT_MEMORY, or 32 MiB */
  const char* strategy;  /**< "automatic", "direct" or "two-phase"; default PLAIT_STRATEGY, or automatic */
  int64_t readers;       /**< ranks that access the file in two-phase accesses; default: chosen by the library */
  /* For new files in formats that store arrays in chunks, such as Zarr: */
  const int64_t* chunk;               /**< the shape of a chunk, `dimensions` numbers; default: chunks of about 8 MiB */
  const int64_t* shard;               /**< the shape of a shard, which holds many chunks; default: none */
  const char* codec;                  /**< compression of chunks: "none" (default), "zstd:3", "gzip:5" */
  const char* fill_value;             /**< value of unwritten elements, as JSON spells it; default 0 */
  const char* const* dimension_names; /**< `dimensions` texts; default: no names */
  /** 1: plait_close syncs what was written.  -1: it does not, so that a crash of the host may lose it.  0 stands for
   *  PLAIT_DURABLE, or else 1. */
  int durable;
} plait_open_options;

/** The indices start, start + stride, ... of one dimension, `count` of them. */
typedef struct plait_slice {
  int64_t start;
  int64_t count;
  int64_t stride; /**< 1 or more; 0 stands for 1 */
  int single;     /**< not 0, with count 1: drop this dimension from the region */
} plait_slice;

typedef struct plait_access {
  size_t size; /**< sizeof(plait_access) */
  const plait_slice*
      region;    /**< one slice per dimension, NULL for the whole array; the layout has the region's shape */
  int slices;    /**< the length of `region` */
  int fill_halo; /**< not 0: reads fill the halos as well */
} plait_access;

/** Opens a file in mode "r", "w" (a new one, which appears whole at plait_close or not at all), "r+", or "a", which
 *  also adds an array of the options' shape and dtype to an existing HDF5 or netCDF-4 file.  Collective. */
plait_status plait_open(const char* url, const char* mode, const plait_comm* comm, const plait_open_options* options,
                        plait_file** file);
/** Mode "w": syncs the new file and gives it its name; otherwise syncs what was written in place.  Frees the handle;
 *  after an error it stays valid, for plait_message and plait_abandon.  Collective. */
plait_status plait_close(plait_file** file);
/** Closes the file, discards it if it is new, and frees the handle.  If not all ranks call this, the next call of the
 *  others on the file fails with an error that states it. */
plait_status plait_abandon(plait_file** file);
plait_status plait_file_dimensions(const plait_file* file, int* dimensions);
plait_status plait_file_shape(const plait_file* file, int capacity, int64_t* shape);
plait_status plait_file_element_bytes(const plait_file* file, int64_t* element_bytes);
/** The element type as .npy files spell it; "" if it is not known. */
plait_status plait_file_dtype(const plait_file* file, char** dtype);
/** The order of the array in the file: 'C' or 'F'. */
plait_status plait_file_order(const plait_file* file, char* order);

/** Reads the whole array: each rank gets the elements that it owns.  Collective, as all calls up to plait_explain. */
plait_status plait_read(plait_file* file, const plait_layout* layout, void* data, int64_t bytes);
plait_status plait_read_parts(plait_file* file, const plait_layout* layout, const plait_part* parts, int64_t count,
                              const plait_access* access);
plait_status plait_write(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes);
plait_status plait_write_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                               int64_t count, const plait_access* access);
/** Extends the array along dimension `axis` by a block of the layout's shape, and writes it.  Mode "a"; for new Zarr
 *  arrays also "w".  Other programs find the array as it was until plait_close, and then with all that was appended. */
plait_status plait_append(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes, int axis);
plait_status plait_append_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                                int64_t count, int axis);
/** Changes the shape of the array, in the same modes.  New elements have the fill value, and other programs find them
 *  after plait_close.  Where the new shape is smaller, the file changes at once. */
plait_status plait_resize(plait_file* file, int dimensions, const int64_t* shape);
/** Nonblocking accesses, which a thread carries out in order.  The arrays must stay allocated and untouched until
 *  plait_request_wait has returned; the other arguments may be freed.  Initialise MPI with MPI_THREAD_MULTIPLE. */
plait_status plait_start_read(plait_file* file, const plait_layout* layout, void* data, int64_t bytes,
                              plait_request** request);
plait_status plait_start_read_parts(plait_file* file, const plait_layout* layout, const plait_part* parts,
                                    int64_t count, const plait_access* access, plait_request** request);
plait_status plait_start_write(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes,
                               plait_request** request);
plait_status plait_start_write_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                                     int64_t count, const plait_access* access, plait_request** request);
/** Describes what a read, or with `write` not 0 a write, would do, as text.  Not collective. */
plait_status plait_explain(const plait_file* file, const plait_layout* layout, const plait_access* access, int write,
                           char** text);
/** Seconds of this process's last access: in the store, copying, waiting for other ranks, in total.  Each may be NULL.
 */
plait_status plait_file_times(const plait_file* file, double* io, double* copy, double* wait, double* total);
/** Makes the call that the other ranks make next fail with this error on all ranks.  For a caller whose own arguments
 *  are wrong.  Returns PLAIT_ERROR_ARGUMENT. */
plait_status plait_file_fail(plait_file* file, const char* message);
/** As plait_file_fail, for the calls that take the communicator itself. */
plait_status plait_comm_fail(const plait_comm* comm, const char* message);

/* ---- Requests ---- */

/** Waits for the started call and returns its status; may be called again. */
plait_status plait_request_wait(plait_request* request);
/** 1 if plait_request_wait would return at once, else 0. */
plait_status plait_request_test(plait_request* request, int* done);
/** Waits, and returns the number of elements that a started stream access moved. */
plait_status plait_request_elements(plait_request* request, int64_t* elements);
/** Waits unless a call has waited already, returns the status of the started call, and frees the handle in any case. */
plait_status plait_request_free(plait_request** request);

/* ---- Streams: an open file's elements as a sequence, in the order of the file ---- */

enum {
  PLAIT_STREAM_OWN = 0,     /**< each rank has its own position; not collective */
  PLAIT_STREAM_SHARED = 1,  /**< one position for all; first come, first served; not collective */
  PLAIT_STREAM_ORDERED = 2, /**< collective; the ranks' ranges follow each other in rank order; lengths may differ */
  PLAIT_STREAM_EQUAL = 3,   /**< collective; as PLAIT_STREAM_ORDERED, with equal lengths */
  PLAIT_STREAM_SAME = 4     /**< collective; all ranks read the same elements; writes write rank 0's data */
};

/** Opens a stream at element 0.  Collective over the file's communicator. */
plait_status plait_stream_open(plait_file* file, int mode, plait_stream** stream);
/** Waits for requests of this rank, closes the stream on this rank and frees the handle.  Not collective; errors
 *  of started writes are returned by plait_close.  Closing the file closes its streams, but does not free their
 *  handles. */
plait_status plait_stream_close(plait_stream** stream);
/** Reads up to `elements` elements; `done` is their number, which is smaller only at the end of the array. */
plait_status plait_stream_read(plait_stream* stream, void* data, int64_t elements, int64_t* done);
/** Writes all elements; if they reach past the end of the array, it writes nothing and returns an error. */
plait_status plait_stream_write(plait_stream* stream, const void* data, int64_t elements);
plait_status plait_stream_start_read(plait_stream* stream, void* data, int64_t elements, plait_request** request);
plait_status plait_stream_start_write(plait_stream* stream, const void* data, int64_t elements,
                                      plait_request** request);
/** The position, in elements. */
plait_status plait_stream_tell(const plait_stream* stream, int64_t* element);
/** Sets the position: of this rank in mode 0, of all ranks in mode 1; collective in modes 2 to 4. */
plait_status plait_stream_seek(plait_stream* stream, int64_t element);
/** As plait_file_fail; in modes 0 and 1 for this process alone. */
plait_status plait_stream_fail(plait_stream* stream, const char* message);

/* ---- Redistribution: copies arrays in memory from one layout to another ---- */

typedef struct plait_redistribute_options {
  size_t size;                  /**< sizeof(plait_redistribute_options) */
  int64_t memory;               /**< upper limit of a process's staging memory in bytes; default 32 MiB */
  const char* element_name;     /**< the name of the element type, which the ranks compare */
  int fill_halo;                /**< not 0: the target's halos are filled as well (whole arrays only) */
  int dimensions;               /**< the length of each of the following */
  const int64_t* section;       /**< shape of the box to copy; NULL: the whole arrays */
  const int64_t* source_origin; /**< the first element of the box in the source array */
  const int64_t* target_origin; /**< the first element of the box in the target array */
} plait_redistribute_options;

/** Copies the elements of the local arrays `from` into the local arrays `to`, which must not overlap.  Collective, as
 *  all calls of this section unless stated otherwise. */
plait_status plait_redistribute(const plait_comm* comm, const plait_layout* source, const void* from,
                                int64_t from_bytes, const plait_layout* target, void* to, int64_t to_bytes,
                                int64_t element_bytes, const plait_redistribute_options* options);
plait_status plait_redistribute_parts(const plait_comm* comm, const plait_layout* source, const plait_const_part* from,
                                      int64_t from_count, const plait_layout* target, const plait_part* to,
                                      int64_t to_count, int64_t element_bytes,
                                      const plait_redistribute_options* options);
/** Plans a redistribution that can be carried out many times. */
plait_status plait_redistribution_create(const plait_comm* comm, const plait_layout* source, const plait_layout* target,
                                         int64_t element_bytes, const plait_redistribute_options* options,
                                         plait_redistribution** plan);
/** Waits for runs that were started.  Not collective. */
plait_status plait_redistribution_free(plait_redistribution** plan);
plait_status plait_redistribution_run(plait_redistribution* plan, const void* from, int64_t from_bytes, void* to,
                                      int64_t to_bytes);
plait_status plait_redistribution_run_parts(plait_redistribution* plan, const plait_const_part* from,
                                            int64_t from_count, const plait_part* to, int64_t to_count);
/** Starts a run, as plait_start_read starts a read. */
plait_status plait_redistribution_start(plait_redistribution* plan, const void* from, int64_t from_bytes, void* to,
                                        int64_t to_bytes, plait_request** request);
plait_status plait_redistribution_start_parts(plait_redistribution* plan, const plait_const_part* from,
                                              int64_t from_count, const plait_part* to, int64_t to_count,
                                              plait_request** request);
/** As plait_file_fail. */
plait_status plait_redistribution_fail(plait_redistribution* plan, const char* message);
/** Describes the messages, runs and staging memory of this rank, as text.  Not collective. */
plait_status plait_redistribution_explain(const plait_redistribution* plan, char** text);

/* ---- Shared memory: local arrays that all processes of a node share; redistributions copy them once ---- */

/** Zeroed memory for the local arrays that this process holds under a layout, one after the other.  Collective. */
plait_status plait_empty(const plait_comm* comm, const plait_layout* layout, int64_t element_bytes,
                         plait_shared** shared);
/** Zeroed memory of `bytes` bytes, which may differ between processes.  Collective. */
plait_status plait_empty_bytes(const plait_comm* comm, int64_t bytes, plait_shared** shared);
/** The address of shared memory and its size in bytes; NULL and 0 if it is empty. */
plait_status plait_shared_memory(const plait_shared* shared, void** data, int64_t* bytes);
plait_status plait_shared_free(plait_shared** shared);

/* ---- Distant I/O: files on other ranks' disks.  docs/guides/distant-io.md describes the guarantees. ----
 *
 * The calls of the C library with the offset as an argument, a handle that may be remote, the rank that owns the file,
 * and a request.  These calls are not collective unless stated otherwise, and any number of threads may make them on
 * one handle, except for plait_dio_close.
 *
 * If `request` is NULL the call returns when the access is complete.  Otherwise it only starts the access: the buffer
 * must not be touched until plait_dio_wait has returned, and each request must be waited for exactly once.
 */

typedef struct plait_dio_options {
  size_t size;   /**< sizeof(plait_dio_options) */
  int temporary; /**< not 0: the file is removed when the handle is closed */
} plait_dio_options;

/** Opens or creates a file on each rank's disk (path NULL: none) in mode "r", "r+" or "w" (a new file, for reading and
 *  writing), and registers them under one handle.  Collective. */
plait_status plait_dio_open(const char* path, const char* mode, const plait_comm* comm,
                            const plait_dio_options* options, plait_dio** handle);
/** Registers a file of this rank under a name.  plait_dio_open must have been called on the communicator before. */
plait_status plait_dio_offer(const char* name, const char* path, const char* mode, const plait_comm* comm,
                             const plait_dio_options* options, plait_dio** handle);
/** Finds the file that a rank offers under a name. */
plait_status plait_dio_find(const char* name, const plait_comm* comm, plait_dio** handle);
/** The rank that owns an offered or found file; -1 for files opened by plait_dio_open. */
plait_status plait_dio_owner(const plait_dio* handle, int* rank);
/** Reads or writes `bytes` bytes at `offset` of the file of `rank`.  Reading past its end is an error and leaves the
 *  buffer undefined; writing there extends the file. */
plait_status plait_dio_read(plait_dio* handle, int64_t offset, void* buffer, int64_t bytes, int rank,
                            plait_request** request);
plait_status plait_dio_write(plait_dio* handle, int64_t offset, const void* buffer, int64_t bytes, int rank,
                             plait_request** request);
/** Makes all writes that have been waited for durable on the disk of `rank`. */
plait_status plait_dio_sync(plait_dio* handle, int rank, plait_request** request);
/** Return and set the size of the file of a rank in bytes; new bytes are zero. */
plait_status plait_dio_size(plait_dio* handle, int rank, int64_t* bytes);
plait_status plait_dio_resize(plait_dio* handle, int64_t bytes, int rank);
/** Waits for an access, frees the request and returns its status; plait_message(NULL) has the text of an error. */
plait_status plait_dio_wait(plait_request** request);
/** Waits for several requests; NULL entries are skipped.  Returns the status of the first in the list that failed. */
plait_status plait_dio_waitall(plait_request** requests, int count);
/** 1 if plait_dio_wait would return at once, else 0.  The request must still be waited for. */
plait_status plait_dio_test(plait_request* request, int* done);
/** Waits for requests of this rank and frees the handle in any case.  Collective for handles of plait_dio_open.
 *  Must be called before the communicator is freed, and before MPI_Finalize. */
plait_status plait_dio_close(plait_dio** handle);

#ifdef __cplusplus
}
#endif

#endif
