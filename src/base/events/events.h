/*
 * Events of a program's input and output, and the writer that records them.
 *
 * The code is C11, so that the library preloaded into foreign programs and Plait itself share one writer.
 * plait/trace_names.h defines the meaning of the numbers.
 *
 * The writer stores each thread's events in chunks of one file. Chunks are shared mappings, so recorded events are in
 * the file even if the process is killed. Memory: one chunk a thread.
 */
#pragma once

#include <stdint.h>

#include "plait/trace_names.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLAIT_EVENT_ENUMERATOR(name, ...) PLAIT_EVENT_##name,
#define PLAIT_INTERFACE_ENUMERATOR(name, ...) PLAIT_INTERFACE_##name,
#define PLAIT_EVENT_BITS(name, constant, bits, word) PLAIT_EVENT_##name = bits,

/* Kinds of events: PLAIT_EVENT_READ and so on. The file's name is recorded before an OPEN. */
enum plait_event_kind { PLAIT_TRACE_KINDS(PLAIT_EVENT_ENUMERATOR) };

/* Interfaces through which a program made a request: PLAIT_INTERFACE_POSIX and so on. */
enum plait_event_interface { PLAIT_TRACE_INTERFACES(PLAIT_INTERFACE_ENUMERATOR) };

/* Flags: PLAIT_EVENT_LOGICAL and so on. */
enum plait_event_flag {
  PLAIT_TRACE_FLAGS(PLAIT_EVENT_BITS) PLAIT_TRACE_DATA_TYPES(PLAIT_EVENT_BITS) PLAIT_EVENT_DATA_TYPE = 0x03 /* mask */
};

#undef PLAIT_EVENT_ENUMERATOR
#undef PLAIT_INTERFACE_ENUMERATOR
#undef PLAIT_EVENT_BITS

/* One event. */
struct plait_event {
  int64_t start;      /* ns of CLOCK_MONOTONIC when the request was made */
  int64_t duration;   /* ns until the program learned of its completion; -1: unknown */
  int64_t offset;     /* bytes; -1: none (a pipe) or unknown */
  int64_t length;     /* requested bytes */
  int64_t result;     /* transferred bytes, or -errno */
  uint64_t operation; /* shared by a logical request and its physical ones; unique in the process; 0: none */
  uint32_t file;      /* number of the open, from plait_events_name; unique in the process; 0: none */
  uint8_t kind;
  uint8_t interface;
  uint16_t flags;
};

/* Reasons why events are missing from a trace. */
enum plait_missed {
  PLAIT_MISSED_MEMORY = 0, /* no memory or disk for a chunk; events */
  PLAIT_MISSED_KERNEL = 1, /* bytes that the kernel counted and no event has (/proc/PID/io), at the end of a process */
  PLAIT_MISSED_COMPLETION = 2, /* asynchronous requests with unseen completion; events */
  PLAIT_MISSED_CALL = 3,       /* calls that could not be decoded; events */
  PLAIT_MISSED_MAPPED = 4,     /* bytes of mapped files, whose loads and stores are invisible */
  PLAIT_MISSED_PROCESS = 5,    /* children that were not recorded; events: their number */
  PLAIT_MISSED_REASONS = 6
};

/* Called with 1 before and with 0 after calls of this thread that a library that records the program must ignore.
 * NULL: no library records the program. Set it before any other call. */
extern void (*plait_events_pause)(int paused);

/* Joins or creates the trace at `path` and begins to record this process's events there.
 * command  the running program, for the user; rank: in the MPI job, -1 without a job. first_file, first_operation
 * the first numbers of plait_events_name and plait_events_operation. Two writers in one process must not share
 * numbers.
 * returns  0, or an errno, after which every other call does nothing.
 * threads  One call a process. */
int plait_events_begin(const char* path, const char* command, int rank, uint32_t first_file, uint64_t first_operation);
/* True if events are recorded.  cost: one load. */
int plait_events_active(void);
/* Records an event of the calling thread.  cost: tens of ns, and occasionally a new chunk.
 * threads  Any. Safe in signal handlers: an event put while this thread is in the writer is counted as missed. */
void plait_events_put(const struct plait_event* event);
/* Returns the next number of an open, and records its name (for a stream or socket a description such as
 * "pipe:[123]"). */
uint32_t plait_events_name(const char* name);
/* Returns the next operation number. */
uint64_t plait_events_operation(void);
/* Counts missing events and bytes. */
void plait_events_missed(enum plait_missed reason, int64_t events, int64_t read_bytes, int64_t written_bytes);
/* Called in the child of a fork: discards the parent's chunks and continues as a process of its own with the parent's
 * files. */
void plait_events_forked(void);
struct plait_account;
/* Returns zeroed memory in the trace for this process's sums; NULL if there is none.  Called once in each process. */
struct plait_account* plait_events_account(void);
/* Announces that a program that records no events will replace this one: its recording ends here.  replaced 0: the
 * replacement failed, and the recording continues. */
void plait_events_replaced(int replaced);
/* Ends the recording of this process. Not calling it is harmless. */
void plait_events_end(void);

/* Returns the rank in an MPI job from the variables of its launcher, -1: there is none.
 * setting  looks up a variable of the environment; null: it does not exist. */
int plait_events_job_rank(const char* (*setting)(const char* name));
/* Sets the process's rank in its MPI job, if plait_events_begin did not know it. */
void plait_events_rank(int rank);

/* Returns ns of CLOCK_MONOTONIC. */
int64_t plait_events_now(void);

#ifdef __cplusplus
}
#endif
