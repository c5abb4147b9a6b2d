/**
 * The functions that the preloaded library (libplait_mpiio) calls in the library that carries out accesses
 * (libplait_mpiio_access).
 */
#ifndef PLAIT_MPIIO_ENTRY_H
#define PLAIT_MPIIO_ENTRY_H

#include <mpi.h>

/** Bits for the words of the environment variable PLAIT_MPIIO, such as `explain,always`. */
enum {
  PLAIT_MPIIO_OFF = 0,     /**< all go to the MPI */
  PLAIT_MPIIO_ON = 1,      /**< Plait carries out what it can */
  PLAIT_MPIIO_EXPLAIN = 2, /**< rank 0 prints a line for each file when it is closed */
  PLAIT_MPIIO_ALWAYS = 8,  /**< Plait also carries out what the MPI does as fast */
  PLAIT_MPIIO_STRICT = 4   /**< a collective access that Plait cannot carry out is an error */
};

/** A collective read or write as the program has called it. */
struct plait_mpiio_access {
  MPI_File file;
  int writes;
  int begins;     /**< 1 if the call begins a split collective access, which another call ends */
  int has_offset; /**< the call states the offset; if not, the individual file pointer does */
  MPI_Offset offset;
  void* data;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Status* status;
};

/** Those ranks of a communicator that have loaded libplait_mpiio_access and have the same mode. */
struct plait_mpiio_ranks {
  MPI_Comm comm; /**< returns errors */
  int has_comm;
  int all; /**< number of all ranks */
  int references;
  void* board; /**< of the library of accesses, which `free_board` frees; NULL if there is none */
  void (*free_board)(void*);
};

/** A file that the MPI has opened. */
struct plait_mpiio_opened {
  MPI_File file;
  struct plait_mpiio_ranks* ranks; /**< counted reference, dropped by `release`; other open files share the object */
  void (*release)(struct plait_mpiio_ranks*);
  int tag; /**< of messages about this file; no other open file of these ranks has it */
  const char* path;
  int descriptor; /**< by which the MPI has opened the file, as long as it is open; -1 if unknown */
  int access_mode;
  int mode;
};

/** Arguments of MPI_File_set_view. */
struct plait_mpiio_view {
  MPI_File file;
  MPI_Offset displacement;
  MPI_Datatype etype;
  MPI_Datatype filetype;
  const char* representation;
  MPI_Info info;
};

/** Where MPI_File_get_view stores the view. */
struct plait_mpiio_stored_view {
  MPI_Offset* displacement;
  MPI_Datatype* etype;
  MPI_Datatype* filetype;
  char* representation;
};

/** What a call depends on that the MPI carries out, and how many ranks make the call. */
enum plait_mpiio_use {
  PLAIT_MPIIO_VIEW,    /**< the view, on one rank */
  PLAIT_MPIIO_POINTER, /**< the view and the individual file pointer, on one rank */
  PLAIT_MPIIO_SHARED,  /**< the view and the shared file pointer, on one rank */
  PLAIT_MPIIO_ALL      /**< the views of all ranks, which call it together */
};

/** None of these throws. */
struct plait_mpiio_functions {
  /** Precedes `opened`, also if the MPI has opened no file on this rank. Collective over the ranks. */
  void (*opening)(struct plait_mpiio_ranks*, int tag);
  void (*opened)(const struct plait_mpiio_opened*);
  void (*closing)(MPI_File);
  /** Returns 1 if Plait holds the view: stores it without setting it in the MPI. Returns 0 if the caller must set it in
      the MPI, and then call `viewed`. The same on all ranks. Collective. */
  int (*viewing)(const struct plait_mpiio_view*);
  void (*viewed)(MPI_File, int has_succeeded);
  /** Returns 0 if the MPI must carry out the call, on all ranks alike; if not, `code` is the result of the call. */
  int (*access)(const struct plait_mpiio_access*, int* code);
  /** Ends the split collective read or write that Plait has carried out; returns 0 if there is none. */
  int (*ended)(MPI_File, int writes, MPI_Status* status);
  /** The number of views that Plait holds, or whose second handle may have pending requests. While it is 0, the
      functions below need not be called. */
  const int* held;
  /** Stores in `target` the handle with which the MPI carries out a call. If this succeeds and `call` is not NULL then,
      the caller passes the MPI's code to `routed`, which returns the result of the call. */
  int (*route)(MPI_File, enum plait_mpiio_use, MPI_File* target, void** call);
  int (*routed)(void* call, enum plait_mpiio_use, int code);
  /** These return 0 if the MPI must carry out the call. */
  int (*seek)(MPI_File, MPI_Offset, int whence);
  int (*position)(MPI_File, MPI_Offset*);
  int (*view)(MPI_File, const struct plait_mpiio_stored_view*, int* code);
};

/** The one symbol of libplait_mpiio_access. `find` returns functions of the MPI, by their names. */
#ifdef __cplusplus
extern "C"
#endif
    const struct plait_mpiio_functions* plait_mpiio_entry(void* (*find)(const char*));

#endif
