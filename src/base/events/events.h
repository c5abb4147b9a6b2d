/*
 * Events of a program's input and output, and the writer that keeps them.
 *
 * C11, so that the library preloaded into foreign programs and Plait itself share one writer.  What the numbers mean is
 * said once, here; plait/trace.hpp repeats the names for readers of traces.
 *
 * The writer keeps each thread's events in chunks of one file.  Chunks lie in shared mappings: what was put is in the
 * file even when the process is killed.  Memory: one chunk a thread.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happened. */
enum plait_event_kind {
  PLAIT_EVENT_READ = 0,
  PLAIT_EVENT_WRITE = 1,
  PLAIT_EVENT_OPEN = 2,      /* result: 0 or -errno; the file's name is put before */
  PLAIT_EVENT_CLOSE = 3,     /* of the last descriptor of this open */
  PLAIT_EVENT_SEEK = 4,      /* offset: the new position */
  PLAIT_EVENT_TRUNCATE = 5,  /* offset: the new size */
  PLAIT_EVENT_SYNC = 6,      /* fsync, fdatasync, sync_file_range, msync */
  PLAIT_EVENT_DUPLICATE = 7, /* one more descriptor of the same open */
  PLAIT_EVENT_MAP = 8,       /* offset, length: the part of the file; its loads and stores are not seen */
  PLAIT_EVENT_UNMAP = 9,
  PLAIT_EVENT_METADATA = 10, /* stat, unlink, rename, mkdir and the like */
  PLAIT_EVENT_START = 11,    /* of a process: after exec, or in the child of a fork */
  PLAIT_EVENT_FORK = 12,     /* in the parent; operation: the child's process id */
  PLAIT_EVENT_EXEC = 13,
  PLAIT_EVENT_EXIT = 14,
  PLAIT_EVENT_PHASE = 15 /* a stretch of the program that it named itself; file: the name's id */
};

/* Through which interface the program asked. */
enum plait_event_interface {
  PLAIT_INTERFACE_UNKNOWN = 0,
  PLAIT_INTERFACE_POSIX = 1,  /* read, pwrite, ... */
  PLAIT_INTERFACE_VECTOR = 2, /* readv, preadv2, ... */
  PLAIT_INTERFACE_STDIO = 3,  /* what the C library's streams and its own functions read and write */
  PLAIT_INTERFACE_MMAP = 4,
  PLAIT_INTERFACE_COPY = 5,      /* sendfile, copy_file_range, splice: one READ and one WRITE of the same operation */
  PLAIT_INTERFACE_AIO = 6,       /* the kernel's asynchronous I/O: io_submit */
  PLAIT_INTERFACE_POSIX_AIO = 7, /* aio_read, lio_listio, ... */
  PLAIT_INTERFACE_URING = 8,
  PLAIT_INTERFACE_MPIIO = 9,
  PLAIT_INTERFACE_PLAIT = 10,
  PLAIT_INTERFACE_BLOCK = 11, /* a trace of a block device */
  PLAIT_INTERFACE_LOADER = 12 /* the dynamic loader reading libraries */
};

/* Flags; the first eight bits are those of the 1992 record type (Miller 1992, appendix) but for its write bit, which
 * the kind says: data type 0x03, asynchronous 0x08, read-ahead hit 0x10, cache miss 0x20, logical 0x80. */
enum plait_event_flag {
  PLAIT_EVENT_FILE_DATA = 0x00,
  PLAIT_EVENT_META_DATA = 0x01,
  PLAIT_EVENT_READ_AHEAD = 0x02,
  PLAIT_EVENT_VIRTUAL_MEMORY = 0x03,
  PLAIT_EVENT_DATA_TYPE = 0x03, /* the mask of the four above */
  PLAIT_EVENT_ASYNCHRONOUS = 0x08,
  PLAIT_EVENT_READ_AHEAD_HIT = 0x10,
  PLAIT_EVENT_CACHE_MISS = 0x20,
  PLAIT_EVENT_LOGICAL = 0x80, /* what the program asked for; without it, what reached a device or store */
  PLAIT_EVENT_DIRECT = 0x100, /* past the page cache */
  PLAIT_EVENT_COLLECTIVE = 0x200,
  PLAIT_EVENT_AT_POSITION = 0x400, /* used and moved the open's own position: read, not pread */
  PLAIT_EVENT_CREATE = 0x800,      /* an open that may make the file */
  PLAIT_EVENT_READ_ONLY = 0x1000,  /* an open, or a mapping, for reading alone */
  PLAIT_EVENT_APPEND = 0x2000
};

/* One event. */
struct plait_event {
  int64_t start;      /* ns of CLOCK_MONOTONIC when the request was made */
  int64_t duration;   /* ns until the program was told that it was complete; -1: not known */
  int64_t offset;     /* bytes; -1: none (a pipe) or not known */
  int64_t length;     /* bytes asked for */
  int64_t result;     /* bytes moved, or -errno */
  uint64_t operation; /* the same for a logical request and its physical ones; unique in the process; 0: none */
  uint32_t file;      /* number of the open, from plait_events_name; unique in the process; 0: none */
  uint8_t kind;
  uint8_t interface;
  uint16_t flags;
};

/* Why something is missing from a trace. */
enum plait_missed {
  PLAIT_MISSED_MEMORY = 0, /* no memory or disk for a chunk; events */
  PLAIT_MISSED_KERNEL = 1, /* bytes that the kernel counted and no event has (/proc/PID/io), at the end of a process */
  PLAIT_MISSED_COMPLETION = 2, /* asynchronous requests whose completion was not seen; events */
  PLAIT_MISSED_CALL = 3,       /* calls that could not be decoded; events */
  PLAIT_MISSED_MAPPED = 4,     /* bytes of files mapped, whose loads and stores are not seen */
  PLAIT_MISSED_PROCESS = 5,    /* children that could not be followed; events: how many */
  PLAIT_MISSED_REASONS = 6
};

/* Between 1 and 0 what this thread calls is left out of a recording of the program by others.  NULL: nobody records it.
 * Set it before anything else of this is called. */
extern void (*plait_events_pause)(int paused);

/* Joins (or makes) the trace at `path` and begins to keep this process's events there.
 * command  what runs, for people; rank: in the MPI job, -1 without.
 * first_file, first_operation  the first numbers that plait_events_name and plait_events_operation give: two writers
 *          in one process must not share theirs.
 * returns  0, or an errno; then every later call does nothing.
 * threads  One call a process. */
int plait_events_begin(const char* path, const char* command, int rank, uint32_t first_file, uint64_t first_operation);
/* Whether events are kept.  cost: one load. */
int plait_events_active(void);
/* Keeps an event of the calling thread.  cost: some tens of ns, now and then a new chunk.
 * threads  Any.  Safe in signal handlers: an event put while this thread is inside is counted as missed. */
void plait_events_put(const struct plait_event* event);
/* Gives the next number of an open, and keeps its name (of a stream, a socket: what it is, such as "pipe:[123]"). */
uint32_t plait_events_name(const char* name);
/* The next operation number. */
uint64_t plait_events_operation(void);
/* Counts what is missing. */
void plait_events_missed(enum plait_missed reason, int64_t events, int64_t read_bytes, int64_t written_bytes);
/* In the child of a fork: forgets the parent's chunks and goes on as a process of its own with the parent's files. */
void plait_events_forked(void);
/* Tells that a program that keeps no events is to take this process's place: its part ends here.  replaced 0: it did
 * not, and the part goes on. */
void plait_events_replaced(int replaced);
/* Ends this process's part; harmless where it is never called. */
void plait_events_end(void);

/* The rank in an MPI job as its launcher tells it in the environment, -1: it does not.
 * setting  looks up a variable of the environment; null: it is not there. */
int plait_events_job_rank(const char* (*setting)(const char* name));
/* Tells the process's rank in its MPI job, where begin did not know it. */
void plait_events_rank(int rank);

/* ns of CLOCK_MONOTONIC. */
int64_t plait_events_now(void);

#ifdef __cplusplus
}
#endif
