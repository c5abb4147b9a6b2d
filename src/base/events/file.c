/*
 * The file of a trace: chunks in shared mappings, written by many processes.
 *
 * Problem: processes write into one file without locks, and each of them may be killed at any instruction. A reader
 * must still find every complete record.
 *
 * Idea: `next` in the header, which all processes map, is the number of allocated bytes. A process allocates a chunk
 * by an atomic addition and maps it. The chunk becomes valid by its magic, which is stored last, and its records become
 * valid by `used`, which is stored after their bytes. A mapping outlives its process, so the kernel writes the pages of
 * a killed process as well.
 *
 * Example: next = 4096, the size of the header. Two processes add 1024 and 8192 at the same time. One of them gets the
 * bytes from 4096 on and the other one those after it, in either order; next becomes 13,312. If one is killed before it
 * has stored the magic, readers skip its bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/events/internal.h"

_Static_assert(sizeof(struct plait_trace_header) == 344, "the header's fields lie without padding");
_Static_assert(sizeof(struct plait_chunk) == 80, "the chunk's fields lie without padding");
_Static_assert(sizeof(struct plait_process_block) == 264, "the block's fields lie without padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "traces are little-endian, as every machine that Plait knows");

/* The file is opened by its path for each chunk and not held open, because a program may close descriptors that it did
 * not open. */
static char trace_path[PLAIT_PATH_BYTES];
static dev_t trace_device;
static ino_t trace_inode;
static struct plait_trace_header* trace_header;

static int sys_open(const char* path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644); /* other users cannot write */
}
static void sys_close(int file) { (void)syscall(SYS_close, file); }

/* ThreadSanitizer must see mappings appear and disappear: an address that is mapped again has no history. */
#if defined(__SANITIZE_THREAD__)
#define PLAIT_SEEN_MAPPINGS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLAIT_SEEN_MAPPINGS 1
#endif
#endif

static void* sys_map(size_t bytes, int flags, int file, uint64_t offset) {
#ifdef PLAIT_SEEN_MAPPINGS
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, (off_t)offset);
#else
  return (void*)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, file, (long)offset);
#endif
}

static void sys_unmap(void* pages, size_t bytes) {
#ifdef PLAIT_SEEN_MAPPINGS
  munmap(pages, bytes);
#else
  (void)syscall(SYS_munmap, pages, bytes);
#endif
}

/* Pauses a library that records this program: the calls of Plait's own writer are not the program's. */
void (*plait_events_pause)(int paused);
static void pause_capture(int paused) {
  if (plait_events_pause != NULL) plait_events_pause(paused);
}

int plait_process_id(void) { return (int)syscall(SYS_getpid); }
int plait_thread_id(void) { return (int)syscall(SYS_gettid); }

long plait_file_read(const char* path, char* buffer, size_t bytes) {
  pause_capture(1);
  const int file = sys_open(path, O_RDONLY);
  const long bytes_read = file < 0 ? -1 : (long)syscall(SYS_read, file, buffer, bytes);
  if (file >= 0) sys_close(file);
  pause_capture(0);
  return bytes_read;
}

void* plait_file_memory(size_t bytes) {
  void* memory = sys_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Reads the header of a file that is a trace.  returns  0 or an errno. */
static int read_header(int file, struct plait_trace_header* header) {
  const long bytes_read = (long)syscall(SYS_pread64, file, header, sizeof *header, 0L);
  if (bytes_read < 0) return errno;
  if (bytes_read < (long)sizeof *header || memcmp(header->magic, PLAIT_TRACE_MAGIC, sizeof header->magic) != 0)
    return EEXIST;
  return header->version == PLAIT_TRACE_VERSION && (header->flags & PLAIT_TRACE_WRITTEN) == 0 ? 0 : EEXIST;
}

static int write_zeros(int file, uint64_t from, uint64_t bytes) {
  static const char zeros[4096];
  while (bytes > 0) {
    const size_t part = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
    const long done = (long)syscall(SYS_pwrite64, file, zeros, part, (long)from);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : ENOSPC;
    from += (uint64_t)done;
    bytes -= (uint64_t)done;
  }
  return 0;
}

/* Makes an empty trace under a unique name and links it to `path` unless another process has created it. Every process
 * that opens `path` thus finds a complete header, even if this process is killed. */
static int make(const char* path, const struct plait_trace_header* header) {
  char temporary_path[PLAIT_PATH_BYTES + 64];
  snprintf(temporary_path, sizeof temporary_path, "%s.%d-%llx", path, plait_process_id(),
           (unsigned long long)plait_events_now());
  const int file = sys_open(temporary_path, O_RDWR | O_CREAT | O_EXCL);
  if (file < 0) return errno;
  int error = write_zeros(file, 0, PLAIT_TRACE_HEADER);
  if (error == 0 && syscall(SYS_pwrite64, file, header, sizeof *header, 0L) != (long)sizeof *header) error = EIO;
  sys_close(file);
  if (error == 0 && syscall(SYS_linkat, AT_FDCWD, temporary_path, AT_FDCWD, path, 0) != 0) {
    error = errno;
    if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS) /* a file system without links */
      error =
          syscall(SYS_renameat2, AT_FDCWD, temporary_path, AT_FDCWD, path, 1 /* RENAME_NOREPLACE */) == 0 ? 0 : errno;
  }
  (void)syscall(SYS_unlinkat, AT_FDCWD, temporary_path, 0);
  return error == EEXIST ? 0 : error;
}

/* Opens the trace, and makes it if it is missing. */
static int open_or_make(const char* path, const struct plait_trace_header* new_header,
                        struct plait_trace_header* header, int* opened) {
  /* O_NONBLOCK avoids waiting for a file that is not a regular one; such files are rejected below. */
  int file = sys_open(path, O_RDWR | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) {
    const int error = make(path, new_header);
    if (error != 0) return error;
    file = sys_open(path, O_RDWR | O_NONBLOCK);
  }
  if (file < 0) return errno;
  struct stat status;
  int error = fstat(file, &status) != 0 ? errno : S_ISREG(status.st_mode) ? read_header(file, header) : EEXIST;
  if (error == 0) {
    trace_device = status.st_dev;
    trace_inode = status.st_ino;
    *opened = file;
  } else {
    sys_close(file);
  }
  return error;
}

/* Describes this process and the current moment. */
static void describe(struct plait_trace_header* header) {
  memset(header, 0, sizeof *header);
  memcpy(header->magic, PLAIT_TRACE_MAGIC, sizeof header->magic);
  header->version = PLAIT_TRACE_VERSION;
  header->next = PLAIT_TRACE_HEADER;
  struct timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  header->monotonic = plait_events_now();
  header->real = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec;
  struct utsname name;
  if (uname(&name) == 0) snprintf(header->host, sizeof header->host, "%s", name.nodename);
  const long bytes_read = plait_file_read("/proc/sys/kernel/random/boot_id", header->boot, sizeof header->boot - 1);
  header->boot[bytes_read > 0 ? bytes_read : 0] = 0;
  for (char* at = header->boot; *at != 0; ++at)
    if (*at == '\n') *at = 0;
  header->family = (uint64_t)header->real * 0x9e3779b97f4a7c15u ^ (uint64_t)plait_process_id() << 40;
  header->family |= 1;
}

static int is_same_host(const struct plait_trace_header* a, const struct plait_trace_header* b) {
  return strncmp(a->boot, b->boot, sizeof a->boot) == 0 &&
         (a->boot[0] != 0 || strncmp(a->host, b->host, sizeof a->host) == 0);
}

static int join(const char* path) {
  int length;
  if (path[0] == '/') {
    length = snprintf(trace_path, sizeof trace_path, "%s", path);
  } else {
    char folder[4096];
    if (syscall(SYS_getcwd, folder, sizeof folder) < 0) return errno;
    length = snprintf(trace_path, sizeof trace_path, "%s/%s", folder, path);
  }
  if (length < 0 || (size_t)length >= sizeof trace_path - 256) return ENAMETOOLONG; /* a host may follow */
  struct plait_trace_header own_header;
  struct plait_trace_header trace_file_header;
  describe(&own_header);
  int file = -1;
  int error = open_or_make(trace_path, &own_header, &trace_file_header, &file);
  if (error == 0 && !is_same_host(&own_header, &trace_file_header)) { /* another clock: this host uses a second file */
    sys_close(file);
    own_header.family = trace_file_header.family;
    snprintf(trace_path + length, sizeof trace_path - (size_t)length, ".%s", own_header.host);
    error = open_or_make(trace_path, &own_header, &trace_file_header, &file);
    if (error == 0 && !is_same_host(&own_header, &trace_file_header)) {
      sys_close(file);
      error = EEXIST;
    }
  }
  if (error != 0) return error;
  void* header = sys_map(PLAIT_TRACE_HEADER, MAP_SHARED, file, 0);
  error = header == MAP_FAILED ? errno : 0;
  sys_close(file);
  if (error == 0) trace_header = header;
  return error;
}

int plait_file_join(const char* path) {
  pause_capture(1);
  const int error = join(path);
  pause_capture(0);
  return error;
}

/* Ensures that writes to these bytes cannot fail.  returns  0 or an errno. */
static int reserve(int file, uint64_t from, uint64_t bytes) {
  struct rlimit limit; /* exceeding it would end the process by a signal */
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && from + bytes > limit.rlim_cur)
    return EFBIG;
  while (syscall(SYS_fallocate, file, 0, (long)from, (long)bytes) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOSYS) return write_zeros(file, from, bytes);
    if (errno != EINTR) return errno;
  }
  return 0;
}

static int map_chunk(struct plait_mapping* mapping, uint64_t position, uint32_t size) {
  const int file = sys_open(trace_path, O_RDWR | O_NONBLOCK);
  if (file < 0) return errno;
  struct stat status;
  int error = 0;
  if (fstat(file, &status) != 0)
    error = errno;
  else if (status.st_dev != trace_device || status.st_ino != trace_inode)
    error = ESTALE; /* removed or replaced meanwhile */
  if (error == 0) error = reserve(file, position, size);
  if (error == 0) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t from = position / page * page;
    const size_t bytes = (size_t)((position + size + page - 1) / page * page - from);
    void* pages = sys_map(bytes, MAP_SHARED, file, from);
    if (pages == MAP_FAILED) {
      error = errno;
    } else {
      mapping->page_bytes = bytes;
      mapping->chunk = (struct plait_chunk*)(void*)((unsigned char*)pages + (position - from));
      mapping->at = (unsigned char*)mapping->chunk + sizeof(struct plait_chunk);
      mapping->end = (unsigned char*)mapping->chunk + size;
      /* Stored last: the child of a fork in between unmaps by `pages` and needs the correct length. */
      __atomic_store_n(&mapping->pages, pages, __ATOMIC_RELEASE);
    }
  }
  sys_close(file);
  return error;
}

int plait_file_chunk(struct plait_mapping* mapping, struct plait_reservation* reserved, uint32_t size, uint32_t kind,
                     uint32_t thread) {
  if (reserved->retry != 0 && plait_events_now() < reserved->retry) return EAGAIN;
  const int saved = errno;
  if (reserved->size < size) {
    /* Relaxed order suffices: each process writes only into its own range, and this counter publishes no written
     * data. */
    reserved->position = __atomic_fetch_add(&trace_header->next, size, __ATOMIC_RELAXED);
    reserved->size = size;
  }
  pause_capture(1);
  const int error = map_chunk(mapping, reserved->position, reserved->size);
  pause_capture(0);
  errno = saved;
  if (error != 0) {
    reserved->retry = plait_events_now() + 1000000000;
    return error;
  }
  struct plait_chunk* chunk = mapping->chunk;
  chunk->kind = kind;
  chunk->position = reserved->position;
  chunk->size = reserved->size;
  chunk->process = plait_this_process.id;
  chunk->thread = thread;
  chunk->image = plait_this_process.image;
  /* Stored last: a process that is killed before this leaves no chunk, rather than one with an incomplete header. */
  __atomic_signal_fence(__ATOMIC_RELEASE);
  memcpy(chunk->magic, PLAIT_CHUNK_MAGIC, sizeof chunk->magic);
  reserved->size = 0;
  reserved->retry = 0;
  return 0;
}

void plait_file_release(struct plait_mapping* mapping) {
  void* pages = mapping->pages;
  mapping->chunk = NULL;
  mapping->at = NULL;
  mapping->end = NULL;
  __atomic_store_n(&mapping->pages, NULL, __ATOMIC_RELEASE); /* first: a fork in between must not unmap it twice */
  if (pages != NULL) sys_unmap(pages, mapping->page_bytes);
}

void plait_file_publish(struct plait_mapping* mapping, unsigned char* at) {
  mapping->at = at;
  /* Stored after the bytes with release order, so that all bytes that count as used exist for every reader, whenever
   * this process is killed. */
  __atomic_store_n(&mapping->chunk->used,
                   (uint32_t)(at - (unsigned char*)mapping->chunk) - (uint32_t)sizeof(struct plait_chunk),
                   __ATOMIC_RELEASE);
}
