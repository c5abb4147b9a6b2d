/*
 * The kinds, interfaces and flags of events in a trace, with their names in C, C++, Python and the text formats.
 *
 * Each line is NAME(the name in C and Python, the name in C++, [the value,] the word in text formats).  Without a value
 * they are numbered from 0 in this order.  Files contain these numbers, so new lines must be added at the end.
 */
#pragma once

/* The operation: PLAIT_EVENT_..., plait::trace::Kind and plait.trace.Kind. */
/* clang-format off */
#define PLAIT_TRACE_KINDS(NAME)                                                                                       \
  NAME(READ, kRead, "read")                                                                                           \
  NAME(WRITE, kWrite, "write")                                                                                        \
  NAME(OPEN, kOpen, "open")                 /* result: 0 or -errno */                                                 \
  NAME(CLOSE, kClose, "close")              /* of the last descriptor of this open */                                 \
  NAME(SEEK, kSeek, "seek")                 /* offset: the new position */                                            \
  NAME(TRUNCATE, kTruncate, "truncate")     /* offset: the new size */                                                \
  NAME(SYNC, kSync, "sync")                 /* fsync, fdatasync, sync_file_range, msync */                            \
  NAME(DUPLICATE, kDuplicate, "duplicate")  /* one more descriptor of the same open */                                \
  NAME(MAP, kMap, "map")                    /* offset, length: the part of the file; loads and stores are not seen */ \
  NAME(UNMAP, kUnmap, "unmap")                                                                                        \
  NAME(METADATA, kMetadata, "metadata")     /* stat, unlink, rename, mkdir and the like */                            \
  NAME(START, kStart, "start")              /* of a process: after exec, or in the child of a fork */                 \
  NAME(FORK, kFork, "fork")                 /* in the parent; operation: the child's process */                       \
  NAME(EXEC, kExec, "exec")                                                                                           \
  NAME(EXIT, kExit, "exit")                                                                                           \
  NAME(PHASE, kPhase, "phase")              /* a stretch of the program that it named; file: the name's number */

/* The interface that the program called: PLAIT_INTERFACE_..., plait::trace::Interface, plait.trace.Interface. */
#define PLAIT_TRACE_INTERFACES(NAME)                                                                                  \
  NAME(UNKNOWN, kUnknown, "unknown")                                                                                  \
  NAME(POSIX, kPosix, "posix")              /* read, pwrite, ... */                                                   \
  NAME(VECTOR, kVector, "vector")           /* readv, preadv2, ... */                                                 \
  NAME(STDIO, kStdio, "stdio")              /* what the C library's streams and its own functions read and write */   \
  NAME(MMAP, kMmap, "mmap")                                                                                           \
  NAME(COPY, kCopy, "copy")                 /* sendfile and the like: a read and a write of the same operation */     \
  NAME(AIO, kAio, "aio")                    /* the kernel's asynchronous I/O: io_submit */                            \
  NAME(POSIX_AIO, kPosixAio, "posix-aio")   /* aio_read, lio_listio, ... */                                           \
  NAME(URING, kUring, "uring")                                                                                        \
  NAME(MPI_IO, kMpiIo, "mpi-io")                                                                                      \
  NAME(PLAIT, kPlait, "plait")                                                                                        \
  NAME(BLOCK, kBlock, "block")              /* a trace of a block device */                                           \
  NAME(LOADER, kLoader, "loader")           /* the dynamic loader reading libraries */                                \
  NAME(HTTP, kHttp, "http")                 /* requests for objects of an object store */

/* Bits of an event's flags, in the order of text formats: PLAIT_EVENT_..., plait::trace::flag, plait.trace.Flag.  The
 * lower eight bits are those of the 1992 record type, without its write bit, which the kind replaces. */
#define PLAIT_TRACE_FLAGS(NAME)                                                                                       \
  NAME(LOGICAL, kLogical, 0x80, "logical")  /* what the program asked for; else what reached a device or store */     \
  NAME(ASYNCHRONOUS, kAsynchronous, 0x08, "asynchronous")                                                             \
  NAME(READ_AHEAD_HIT, kReadAheadHit, 0x10, "read-ahead-hit")                                                         \
  NAME(CACHE_MISS, kCacheMiss, 0x20, "cache-miss")                                                                    \
  NAME(DIRECT, kDirect, 0x100, "direct")                /* past the page cache */                                     \
  NAME(COLLECTIVE, kCollective, 0x200, "collective")                                                                  \
  NAME(AT_POSITION, kAtPosition, 0x400, "at-position")  /* used and moved the open's own position: read, not pread */ \
  NAME(CREATE, kCreate, 0x800, "create")                /* an open that may make the file */                          \
  NAME(READ_ONLY, kReadOnly, 0x1000, "read-only")       /* an open or a mapping for reading alone */                  \
  NAME(APPEND, kAppend, 0x2000, "append")                                                                             \
  NAME(DURABLE, kDurable, 0x4000, "durable")            /* a write that ends when its bytes are on the device */

/* The two lowest bits are one number, the type of the data; 0 is file data. */
#define PLAIT_TRACE_DATA_TYPES(NAME)                                                                                  \
  NAME(META_DATA, kMetaData, 0x01, "meta-data")                                                                       \
  NAME(READ_AHEAD, kReadAhead, 0x02, "read-ahead")                                                                    \
  NAME(VIRTUAL_MEMORY, kVirtualMemory, 0x03, "virtual-memory")
/* clang-format on */

/* The numbers of kinds and interfaces. */
#define PLAIT_TRACE_ONE(...) +1
enum {
  PLAIT_TRACE_KIND_COUNT = 0 PLAIT_TRACE_KINDS(PLAIT_TRACE_ONE),
  PLAIT_TRACE_INTERFACE_COUNT = 0 PLAIT_TRACE_INTERFACES(PLAIT_TRACE_ONE)
};
#undef PLAIT_TRACE_ONE
