/*
 * The binary trace format (.plait) as bytes in a file; docs/formats.md describes it. Shared by the C writer and the
 * C++ reader and writer. Little-endian; every structure is stored as declared, without padding.
 *
 * A file consists of a header and chunks at multiples of PLAIT_TRACE_UNIT, in any order of time, possibly with holes
 * of zeros.
 */
#pragma once

#include <stdint.h>

/* A name with this prefix does not name a file, but a program that ran and recorded nothing. A sign, a letter, a
 * blank and the program's path follow. The sign - cancels an earlier +: the program did not start after all. The
 * letter is the reason: */
#define PLAIT_UNRECORDED "unrecorded:"

enum plait_unrecorded {
  PLAIT_UNRECORDED_STATIC = 's',  /* statically linked */
  PLAIT_UNRECORDED_MACHINE = 'm', /* built for another architecture */
  PLAIT_UNRECORDED_MUSL = 'c',    /* linked with musl */
  PLAIT_UNRECORDED_LOADER = 'l',  /* loader of another C library, or of a glibc that is too old for the recorder */
  PLAIT_UNRECORDED_RIGHTS = 'r',  /* runs with more rights than the program that runs it: setuid, capabilities */
  PLAIT_UNRECORDED_USER = 'u',    /* its user or root directory has no access to the trace */
  PLAIT_UNRECORDED_ASKED = 'e'    /* its environment sets PLAIT_RECORD to nothing */
};

/* A name with this prefix does not name a file, but a child that a process waited for, with the kernel's counters of
 * it. Six numbers separated by blanks follow: process id, start time, bytes read, bytes written, read calls, write
 * calls. */
#define PLAIT_REAPED "reaped:"

/* The first bytes of the header, and of each chunk. */
#define PLAIT_TRACE_MAGIC "\x89PLAIT\r\n"
#define PLAIT_CHUNK_MAGIC "PLTC"

enum {
  PLAIT_TRACE_VERSION = 1,
  PLAIT_TRACE_HEADER = 4096,     /* bytes of the header */
  PLAIT_TRACE_UNIT = 1024,       /* offsets and sizes of chunks are multiples */
  PLAIT_TRACE_LARGEST = 1 << 20, /* maximum bytes of a chunk */
  PLAIT_TRACE_CONTEXTS = 1024,   /* maximum contexts of a chunk */
  PLAIT_TRACE_WRITTEN = 1,    /* header flag: written as a whole by one writer; chunks in order, an index at the end */
  PLAIT_TRACE_LONGEST = 96,   /* maximum bytes of an event's record, contexts included */
  PLAIT_TRACE_MISSED = 8,     /* number of reasons for which a process block has counters */
  PLAIT_ACCOUNT_CHUNK = 1024, /* bytes of a chunk of sums */
  PLAIT_ACCOUNT_SLOTS = 14    /* number of threads with separate sums */
};

struct plait_trace_header {
  char magic[8];
  uint32_t version;
  uint32_t flags;
  uint64_t next;     /* allocated bytes of the file; grows atomically */
  uint64_t family;   /* equal in all files of one trace; not 0 */
  int64_t monotonic; /* ns of CLOCK_MONOTONIC and of CLOCK_REALTIME at one moment: the zero of the trace */
  int64_t real;
  char boot[40]; /* the host's boot identity, which identifies its monotonic clock */
  char host[256];
};

enum plait_chunk_kind {
  PLAIT_CHUNK_EVENTS = 1,
  PLAIT_CHUNK_PROCESS = 2, /* a process block, its command, names */
  PLAIT_CHUNK_NAMES = 3,   /* more names of the same process */
  PLAIT_CHUNK_TABLES = 4,  /* the description of a written trace */
  PLAIT_CHUNK_INDEX = 5,   /* the last of a written trace: one entry for each chunk before it */
  PLAIT_CHUNK_ACCOUNT = 6  /* the part of the kernel's counters that the events of a process explain */
};

/* The header of each chunk. */
struct plait_chunk {
  char magic[4];
  uint32_t kind;
  uint64_t position; /* position in the file, so that other data is not mistaken for a chunk */
  uint32_t size;     /* bytes, including this header */
  uint32_t used;     /* valid bytes after this header; grows with release order */
  uint32_t process;  /* id in the system; 0 in a written trace */
  uint32_t thread;
  uint64_t image; /* identifies the writer, together with process; 0 in a written trace */
  int64_t base;   /* time relative to which the first start is encoded */
  int64_t first;  /* smallest and largest start of its events */
  int64_t last;
  uint64_t back; /* maximum difference of a start to the largest one before it */
  uint32_t events;
  uint32_t reserved;
};

/* The first part of a process chunk's content. An image is one writer in one program; exec begins another. */
struct plait_process_block {
  uint64_t started;      /* start time in the system's unit: distinguishes reused ids */
  uint64_t parent_image; /* image whose names the child of a fork inherits; else 0 */
  uint32_t parent;       /* process id */
  uint32_t ended;        /* 1: its writer ended */
  int64_t rank;
  int64_t begin; /* ns of CLOCK_MONOTONIC */
  int64_t end;   /* 0: not ended */
  int64_t cpu;   /* ns at the end; -1: unknown */
  uint64_t first_operation;
  uint32_t first_file;
  uint32_t command_bytes; /* the command follows this block, then names: varint number, varint bytes, the bytes */
  int64_t missed[PLAIT_TRACE_MISSED][3]; /* by enum plait_missed: events, bytes read, bytes written */
};

/* One entry of an index, in the order of the chunks. */
struct plait_index_entry {
  uint64_t position;
  uint32_t size;
  uint32_t kind;
  int64_t first;
  int64_t last;
  uint32_t events;
  uint32_t reserved;
};

enum plait_account_flags {
  PLAIT_ACCOUNT_THREADS = 1,     /* there are more threads than slots, so that the sums are incomplete */
  PLAIT_ACCOUNT_ASYNCHRONOUS = 2 /* there were requests that the kernel does not count */
};

/* The content of a chunk of sums: the part of the kernel's counters that the recorded events of a process explain. If
 * the process is killed, the process that waits for it can still compare both. The sums are bytes read, bytes
 * written, read calls and write calls. */
struct plait_account {
  int64_t flags;
  int64_t settled[4]; /* sums that are in no slot */
  int64_t loading;    /* calls of dlopen whose reads are not included in the sums yet */
  struct {
    int64_t sums[4];
    int64_t reading;  /* 1 while the thread is in a read call, which a kill may interrupt */
    int64_t spare[3]; /* pads a slot to a cache line, so that threads do not share one */
  } slots[PLAIT_ACCOUNT_SLOTS];
};
