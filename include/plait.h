/**
 * The C interface of Plait: distributed arrays between memory, files and ranks.  C11, and C++.  Link with plait::plait;
 * communicators of MPI come from plait_mpi.h and plait::mpi.  docs/guides/c.md has a whole program.
 *
 * status    Every function returns a plait_status, except plait_message, plait_system_code, plait_version and
 *           plait_alone.  No call ends the program.
 * messages  plait_message(handle) is the text of the last error on the first handle of a call, plait_message(NULL) that
 *           of the last error in this thread: use that where no handle came to be.  They say what was found, what was
 *           expected and what to do.  A text is good until the next error on that handle (or thread).
 * outputs   Pointers, last.  Handles and texts are NULL after an error, other outputs are as they were.
 * handles   Are freed by a function that takes their address and makes them NULL; a handle that is NULL already is no
 *           error there, and nowhere else it is allowed.  A handle may be freed while others that were made with it are
 *           still used.  Texts that a call returns are freed by plait_text_free.
 * options   Structures begin with their own size, so that later versions can add members: set everything to zero, then
 *           `size` to sizeof the structure.  Zero is the default of every member.  NULL stands for all defaults.
 * sizes     64 bits; elements where nothing else is said, memory and offsets in bytes.  Indices and ranks begin with 0.
 * together  "Collective" calls are made by all processes of the communicator with equal arguments (their own arrays
 *           apart), and all get the same status and the same message: also where only one of them passes a wrong
 *           argument.  Only a handle to the communicator, file, stream or plan itself that is NULL, or none, is an
 *           error of the one process alone, since it cannot tell the others; they wait for it.
 * threads   One thread at a time for each file, stream, request, plan and shared memory.  Layouts, conversions and
 *           communicators may be used by many; plait_message of one of these is the error of the calling thread.
 */
#ifndef PLAIT_H
#define PLAIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int plait_status;
enum {
  PLAIT_OK = 0,
  PLAIT_ERROR_ARGUMENT = 1, /**< the caller asked for something that cannot be */
  PLAIT_ERROR_SYSTEM = 2,   /**< a file, a disk, the network or another process failed; see plait_system_code */
  PLAIT_ERROR_MEMORY = 3    /**< no memory */
};
/** The most dimensions of an array: enough room for any shape. */
enum { PLAIT_MAX_DIMENSIONS = 32 };
/** In place of the bytes of a local array: unknown, so that its size is not checked. */
enum { PLAIT_UNKNOWN = -1 };

typedef struct plait_comm plait_comm;
typedef struct plait_layout plait_layout;
typedef struct plait_conversion plait_conversion;
typedef struct plait_file plait_file;
typedef struct plait_stream plait_stream;
typedef struct plait_request plait_request;
typedef struct plait_redistribution plait_redistribution;
typedef struct plait_shared plait_shared;
typedef struct plait_dio plait_dio;

/* ---- Errors and texts ---- */

/** The last error on a handle, or of this thread where it is NULL; "" where there was none. */
const char* plait_message(const void* handle);
/** The errno of that error, 0 where it has none. */
int plait_system_code(const void* handle);
plait_status plait_text_free(char** text);
/** "0.1.0" */
const char* plait_version(void);

/* ---- Communicators: who takes part.  See also plait_mpi.h. ---- */

/** This process alone, which holds all ranks of every layout.  Always there; not to be freed. */
const plait_comm* plait_alone(void);
plait_status plait_comm_rank(const plait_comm* comm, int* rank);
plait_status plait_comm_size(const plait_comm* comm, int* size);
/** Before MPI_Finalize, and so all that was made with it.  Not collective. */
plait_status plait_comm_free(plait_comm** comm);

/* ---- Layouts: how an array is distributed over ranks.  Pure: no MPI, no I/O. ---- */

/** Reads `8x12 (block, cyclic(3)) onto (2, 2) order=F`; docs/reference/notation.md. */
plait_status plait_layout_parse(const char* text, plait_layout** layout);
/** The same where the text may leave out the shape. */
plait_status plait_layout_parse_shape(const char* text, int dimensions, const int64_t* shape, plait_layout** layout);
plait_status plait_layout_free(plait_layout** layout);
/** The text of the normal form: equal layouts have the same one.  To be freed. */
plait_status plait_layout_text(const plait_layout* layout, char** text);
/** Whether the two give the same elements to the same ranks in the same local order: 1 or 0. */
plait_status plait_layout_equal(const plait_layout* layout, const plait_layout* other, int* equal);
plait_status plait_layout_dimensions(const plait_layout* layout, int* dimensions);
/** The shape of the array.  Here and below `room` says how many numbers the output can take: all of them or an error.
 */
plait_status plait_layout_shape(const plait_layout* layout, int room, int64_t* shape);
/** The elements of the whole array. */
plait_status plait_layout_elements(const plait_layout* layout, int64_t* elements);
/** How many ranks hold a part of it (which may be empty), and one more than the largest of them. */
plait_status plait_layout_ranks(const plait_layout* layout, int64_t* ranks, int64_t* ranks_end);
plait_status plait_layout_has_rank(const plait_layout* layout, int64_t rank, int* has_rank);
/** Their numbers, ascending: as many as plait_layout_ranks says. */
plait_status plait_layout_rank_numbers(const plait_layout* layout, int64_t room, int64_t* numbers);
/** The shape of a rank's own part, and with the halo around it: that of local arrays in memory. */
plait_status plait_layout_local_shape(const plait_layout* layout, int64_t rank, int room, int64_t* shape);
plait_status plait_layout_padded_shape(const plait_layout* layout, int64_t rank, int room, int64_t* shape);
/** The dimensions of local arrays, slowest first. */
plait_status plait_layout_order(const plait_layout* layout, int room, int* order);
/** The indices of one dimension that a rank owns, in the order of its local array: local_shape[dimension] of them. */
plait_status plait_layout_indices(const plait_layout* layout, int64_t rank, int dimension, int64_t room,
                                  int64_t* indices);
/** The ranks that own an element, ascending, and how many; `owners` may be NULL with room 0, to ask for `count`. */
plait_status plait_layout_owners(const plait_layout* layout, const int64_t* index, int64_t room, int64_t* owners,
                                 int64_t* count);
/** The position of an element in the own part of a rank's local array, and back.  One number a dimension. */
plait_status plait_layout_to_local(const plait_layout* layout, const int64_t* index, int64_t rank, int64_t* local);
plait_status plait_layout_to_global(const plait_layout* layout, const int64_t* local, int64_t rank, int64_t* index);
/** How many local arrays this process holds under a layout (0 or 1 with MPI, all where it is alone), and their bytes.
 */
plait_status plait_layout_held(const plait_layout* layout, const plait_comm* comm, int64_t element_bytes,
                               int64_t* arrays, int64_t* bytes);

/* ---- Conversions: who sends what to whom.  Pure. ---- */

/** What goes between a rank and another one: elements, in so many stretches that are contiguous on both sides. */
typedef struct plait_traffic {
  int64_t rank;
  int64_t elements;
  int64_t runs;
} plait_traffic;

/** From arrays as `source` says to arrays as `target` says, filling the target's halo or not. */
plait_status plait_conversion_create(const plait_layout* source, const plait_layout* target, int fill_halo,
                                     plait_conversion** conversion);
plait_status plait_conversion_free(plait_conversion** conversion);
/** What a rank sends, and receives, by ascending rank of the other side; `traffic` may be NULL with room 0. */
plait_status plait_conversion_sends(const plait_conversion* conversion, int64_t rank, int64_t room,
                                    plait_traffic* traffic, int64_t* count);
plait_status plait_conversion_receives(const plait_conversion* conversion, int64_t rank, int64_t room,
                                       plait_traffic* traffic, int64_t* count);
/** The longest run that holds everywhere, in elements. */
plait_status plait_conversion_block(const plait_conversion* conversion, int64_t* block);
plait_status plait_conversion_explain(const plait_conversion* conversion, char** text);

/* ---- Local arrays ----
 *
 * With MPI a process passes its own local array, that of the layout's rank with its number, or none where the layout
 * has no such rank.  A process that is alone passes those of all ranks of the layout, by ascending rank.  A local array
 * is of its padded shape.  There are two ways to pass them:
 *   data, bytes   Dense, in the layout's local order; several ones directly one behind the other.  `bytes` is the room
 *                 at `data`, at least what plait_layout_held says, or PLAIT_UNKNOWN.  NULL and 0 where there is none.
 *   parts, count  One by one, each with distances of its own (the functions that end with _parts).
 */

typedef struct plait_part {
  void* data;           /**< the array's first element */
  int64_t bytes;        /**< the room from `data` on, or PLAIT_UNKNOWN */
  const int64_t* steps; /**< distance in bytes of neighbours in each dimension, of any sign; NULL: dense */
} plait_part;

typedef struct plait_const_part {
  const void* data;
  int64_t bytes;
  const int64_t* steps;
} plait_const_part;

/* ---- Files ---- */

typedef struct plait_open_options {
  size_t size;           /**< sizeof(plait_open_options) */
  const int64_t* shape;  /**< of the array; needed for new and raw files, checked otherwise */
  int dimensions;        /**< how many numbers `shape` has */
  const char* dtype;     /**< as .npy files spell it: "<f8", "<i4"; needed for new .npy files */
  int64_t element_bytes; /**< instead of dtype for raw files; checked otherwise */
  const char* order;     /**< of a new or raw file: "C" (default) or "F" */
  int64_t offset;        /**< raw files: where the array begins, in bytes */
  int64_t memory;        /**< most staging memory of a rank in bytes; default PLAIT_MEMORY, or 32 MiB */
  const char* strategy;  /**< "automatic", "direct" or "two-phase"; default PLAIT_STRATEGY, or automatic */
  int64_t readers;       /**< ranks that touch the file in two-phase accesses; default as many as help */
} plait_open_options;

/** The indices start, start + step, ... of one dimension, `count` of them. */
typedef struct plait_slice {
  int64_t start;
  int64_t count;
  int64_t step; /**< 1 or more; 0 stands for 1 */
  int single;   /**< with count 1: not 0 where the region is to lose this dimension */
} plait_slice;

typedef struct plait_access {
  size_t size; /**< sizeof(plait_access) */
  const plait_slice*
      region;    /**< one slice a dimension, NULL for the whole array; the layout is of the region's shape */
  int slices;    /**< how many `region` has */
  int fill_halo; /**< not 0: reads fill the halos as well */
} plait_access;

/** Opens a file in mode "r", "w" (a new one, which appears whole at plait_close or not at all) or "r+".  Collective. */
plait_status plait_open(const char* url, const char* mode, const plait_comm* comm, const plait_open_options* options,
                        plait_file** file);
/** Makes a new file appear, durably, or what was written in place durable, and frees the handle.  After an error the
 *  handle stays, for plait_message and plait_abandon.  Collective. */
plait_status plait_close(plait_file** file);
/** Discards a new file and frees the handle.  A rank that does this alone is heard by the others: their next call on
 *  the file says so. */
plait_status plait_abandon(plait_file** file);
plait_status plait_file_dimensions(const plait_file* file, int* dimensions);
plait_status plait_file_shape(const plait_file* file, int room, int64_t* shape);
plait_status plait_file_element_bytes(const plait_file* file, int64_t* element_bytes);
/** As .npy files spell it; "" where it is not known. */
plait_status plait_file_dtype(const plait_file* file, char** dtype);
/** 'C' or 'F'. */
plait_status plait_file_order(const plait_file* file, char* order);

/** Reads the whole array, each rank the elements that it owns.  Collective, as the rest down to the streams. */
plait_status plait_read(plait_file* file, const plait_layout* layout, void* data, int64_t bytes);
plait_status plait_read_parts(plait_file* file, const plait_layout* layout, const plait_part* parts, int64_t count,
                              const plait_access* access);
plait_status plait_write(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes);
plait_status plait_write_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                               int64_t count, const plait_access* access);
/** Started accesses are carried out in order while the program goes on.  The arrays must stay, untouched, until
 *  plait_request_wait has returned; all else may go.  With MPI initialise it for MPI_THREAD_MULTIPLE. */
plait_status plait_start_read(plait_file* file, const plait_layout* layout, void* data, int64_t bytes,
                              plait_request** request);
plait_status plait_start_read_parts(plait_file* file, const plait_layout* layout, const plait_part* parts,
                                    int64_t count, const plait_access* access, plait_request** request);
plait_status plait_start_write(plait_file* file, const plait_layout* layout, const void* data, int64_t bytes,
                               plait_request** request);
plait_status plait_start_write_parts(plait_file* file, const plait_layout* layout, const plait_const_part* parts,
                                     int64_t count, const plait_access* access, plait_request** request);
/** What a read, or with `write` not 0 a write, would do, in lines for people.  Not collective. */
plait_status plait_explain(const plait_file* file, const plait_layout* layout, const plait_access* access, int write,
                           char** text);
/** Seconds of this process's last access: in the store, copying, waiting for others, in all.  Any may be NULL. */
plait_status plait_file_times(const plait_file* file, double* io, double* copy, double* wait, double* total);
/** For a caller that finds its own arguments wrong: takes part in the next call of the others with this error, which
 *  all get.  Returns PLAIT_ERROR_ARGUMENT. */
plait_status plait_file_refuse(plait_file* file, const char* message);
/** The same for the calls that take the communicator itself. */
plait_status plait_comm_refuse(const plait_comm* comm, const char* message);

/* ---- Requests ---- */

/** Waits for what was started and returns its status, each time it is asked. */
plait_status plait_request_wait(plait_request* request);
/** Whether plait_request_wait would return at once: 1 or 0. */
plait_status plait_request_test(plait_request* request, int* done);
/** Waits, and gives the elements that a started stream access moved. */
plait_status plait_request_elements(plait_request* request, int64_t* elements);
/** Waits where nobody has, and returns the status of that; frees the handle in any case. */
plait_status plait_request_free(plait_request** request);

/* ---- Streams: an open file's elements one behind the other, in the order of the file ---- */

enum {
  PLAIT_STREAM_OWN = 0,     /**< each rank has a position and accesses of its own */
  PLAIT_STREAM_SHARED = 1,  /**< one position for all; first come, first served; not collective */
  PLAIT_STREAM_ORDERED = 2, /**< collective; stretches follow each other by rank, of any lengths */
  PLAIT_STREAM_EQUAL = 3,   /**< collective; the same, of equal lengths */
  PLAIT_STREAM_SAME = 4     /**< collective; all ranks read the same elements; of writes rank 0's data counts */
};

/** Collective over the file's communicator. */
plait_status plait_stream_open(plait_file* file, int mode, plait_stream** stream);
/** Waits for what this rank has started, ends the stream on this rank and frees the handle.  Not collective; errors of
 *  started writes come from plait_close.  Closing the file ends its streams; their handles are still to be freed. */
plait_status plait_stream_close(plait_stream** stream);
/** Reads up to `elements` elements; `done` says how many: fewer only at the end of the array. */
plait_status plait_stream_read(plait_stream* stream, void* data, int64_t elements, int64_t* done);
/** Writes all elements; past the end of the array nothing, with an error. */
plait_status plait_stream_write(plait_stream* stream, const void* data, int64_t elements);
plait_status plait_stream_start_read(plait_stream* stream, void* data, int64_t elements, plait_request** request);
plait_status plait_stream_start_write(plait_stream* stream, const void* data, int64_t elements,
                                      plait_request** request);
/** The position, in elements. */
plait_status plait_stream_tell(const plait_stream* stream, int64_t* element);
/** Mode 0: of this rank.  Mode 1: of all.  Modes 2 to 4: collective. */
plait_status plait_stream_seek(plait_stream* stream, int64_t element);
/** As plait_file_refuse; in modes 0 and 1 for this process alone. */
plait_status plait_stream_refuse(plait_stream* stream, const char* message);

/* ---- Redistribution: arrays in memory from one layout into another ---- */

typedef struct plait_redistribute_options {
  size_t size;                  /**< sizeof(plait_redistribute_options) */
  int64_t memory;               /**< most staging memory of a process in bytes; default 32 MiB */
  const char* element_name;     /**< a type's name, which is compared between ranks as well */
  int fill_halo;                /**< not 0: the target's halos are filled as well (whole arrays only) */
  int dimensions;               /**< how many numbers each of the following has */
  const int64_t* section;       /**< shape of the box that is moved; NULL: both arrays whole */
  const int64_t* source_origin; /**< where it begins in the source array */
  const int64_t* target_origin; /**< where it begins in the target array */
} plait_redistribute_options;

/** Copies the elements of the local arrays `from` into those `to`, which do not overlap.  Collective, as all here. */
plait_status plait_redistribute(const plait_comm* comm, const plait_layout* source, const void* from,
                                int64_t from_bytes, const plait_layout* target, void* to, int64_t to_bytes,
                                int64_t element_bytes, const plait_redistribute_options* options);
plait_status plait_redistribute_parts(const plait_comm* comm, const plait_layout* source, const plait_const_part* from,
                                      int64_t from_count, const plait_layout* target, const plait_part* to,
                                      int64_t to_count, int64_t element_bytes,
                                      const plait_redistribute_options* options);
/** Plans once what is carried out many times. */
plait_status plait_redistribution_create(const plait_comm* comm, const plait_layout* source, const plait_layout* target,
                                         int64_t element_bytes, const plait_redistribute_options* options,
                                         plait_redistribution** plan);
/** Waits for what was started.  Not collective. */
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
/** As plait_file_refuse. */
plait_status plait_redistribution_refuse(plait_redistribution* plan, const char* message);
/** Messages, runs and staging of this rank, in lines for people.  Not collective. */
plait_status plait_redistribution_explain(const plait_redistribution* plan, char** text);

/* ---- Shared memory: local arrays that all processes of a node see; redistributions copy them once ---- */

/** Memory for the local arrays that this process holds under a layout, all zero, one behind the other.  Collective. */
plait_status plait_empty(const plait_comm* comm, const plait_layout* layout, int64_t element_bytes,
                         plait_shared** shared);
/** So many bytes, each process its own number.  Collective. */
plait_status plait_empty_bytes(const plait_comm* comm, int64_t bytes, plait_shared** shared);
/** Where they lie, and how many they are.  NULL and 0 where there are none. */
plait_status plait_shared_memory(const plait_shared* shared, void** data, int64_t* bytes);
plait_status plait_shared_free(plait_shared** shared);

/* ---- Distant I/O: files on other ranks' disks.  docs/guides/distant-io.md says what is promised. ----
 *
 * The calls of the C library with the offset as an argument, a handle that may be remote, the rank that the file is at
 * home on, and a request.  These calls are not collective where nothing else is said, and any number of threads may
 * make them on one handle, plait_dio_close apart.  With MPI initialise it for MPI_THREAD_MULTIPLE.
 *
 * Where `request` is NULL the call returns once the access is done.  Otherwise it only begins it: the buffer belongs to
 * the access until plait_dio_wait has returned, and each request is to be waited for once.
 */

typedef struct plait_dio_options {
  size_t size;   /**< sizeof(plait_dio_options) */
  int temporary; /**< not 0: the file is removed when the handle is closed */
} plait_dio_options;

/** Opens or makes a file on each rank's disk, NULL for none, in mode "r", "r+" or "w" (new, to read and write), and
 *  registers them under one handle.  Collective. */
plait_status plait_dio_open(const char* path, const char* mode, const plait_comm* comm,
                            const plait_dio_options* options, plait_dio** handle);
/** Registers a file of this rank alone under a name, on a communicator on which plait_dio_open has been called. */
plait_status plait_dio_offer(const char* name, const char* path, const char* mode, const plait_comm* comm,
                             const plait_dio_options* options, plait_dio** handle);
/** The file that some rank offers under a name, as above. */
plait_status plait_dio_find(const char* name, const plait_comm* comm, plait_dio** handle);
/** The rank of an offered or found file; -1 of files that were opened together. */
plait_status plait_dio_home(const plait_dio* handle, int* rank);
/** Reads or writes `bytes` bytes at `offset` of the file of `rank`.  Reading past its end is an error, of which nothing
 *  is to be expected in the buffer; writing there makes the file longer. */
plait_status plait_dio_read(plait_dio* handle, int64_t offset, void* buffer, int64_t bytes, int rank,
                            plait_request** request);
plait_status plait_dio_write(plait_dio* handle, int64_t offset, const void* buffer, int64_t bytes, int rank,
                             plait_request** request);
/** Makes what has been written, and waited for, durable on the disk of `rank`. */
plait_status plait_dio_sync(plait_dio* handle, int rank, plait_request** request);
/** The bytes of the file of a rank, and their change: new ones are zero. */
plait_status plait_dio_size(plait_dio* handle, int rank, int64_t* bytes);
plait_status plait_dio_resize(plait_dio* handle, int64_t bytes, int rank);
/** Waits for an access, frees the request and returns how it went: what failed is in plait_message(NULL). */
plait_status plait_dio_wait(plait_request** request);
/** The same for several, NULL ones left out; the status is that of the first in the list that failed. */
plait_status plait_dio_waitall(plait_request** requests, int count);
/** Whether plait_dio_wait would return at once: 1 or 0.  The request stays to be waited for. */
plait_status plait_dio_test(plait_request* request, int* done);
/** Waits for what this rank has begun and frees the handle in any case.  Collective where plait_dio_open was.  Before
 *  the communicator is freed, and MPI_Finalize. */
plait_status plait_dio_close(plait_dio** handle);

#ifdef __cplusplus
}
#endif

#endif
