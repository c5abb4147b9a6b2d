/*
 * The recording library (libplait_capture): declarations shared by its parts.
 *
 * The library is loaded into an unmodified program by LD_PRELOAD. It replaces functions of the C library, such as read
 * and open. A replacement makes the system call itself and records an event of it in the trace. The C library's own
 * functions jump here as well (code/patch.c), so that the reads and writes of streams and of the C library itself are
 * seen where they reach the kernel.
 *
 * Rules for all code here: no allocation, no locks (a signal handler may interrupt any instruction), and errno as the
 * program expects it. Names: a *missed* request is one that the library notices without details, so that the trace
 * only counts it; *caller* is the return address of a replaced function.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/events/clock.h"
#include "base/events/events.h"
#include "trace/capture/chain.h"
#include "trace/capture/raw.h"

#define EXPORT __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CALLER() ((uintptr_t)__builtin_return_address(0))

/* --- state.c: decides if this process records --- */

enum capture_state { CAPTURE_NOT_BEGUN = 0, CAPTURE_BEGINNING, CAPTURE_ON, CAPTURE_OFF };

/* An enum capture_state, in a page that the kernel clears in every child that a fork makes, so that the child begins
 * anew. */
extern _Atomic int* capture_state;
/* Above 0 after this thread made a child that shares its memory (vfork, posix_spawn): calls may be the child's. */
extern __thread int capture_spawning __attribute__((tls_model("initial-exec")));
/* Called in the parent after a vfork child, which shared its memory, has run a program: releases the memory that the
 * child allocated for the exec. */
void capture_release_borrowed(void);
/* Above 0 while Plait's library records the calls of this thread itself. */
extern __thread int capture_paused __attribute__((tls_model("initial-exec")));

/* A range of addresses of code: of this library, of the C library, and of Plait's library if it is loaded. */
struct text {
  uintptr_t begin;
  uintptr_t size;
};
extern struct text capture_own_text;
extern struct text capture_libc_text;
extern struct text capture_plait_text; /* set by the first plait_capture_pause() */

static inline bool text_has(const struct text* text, uintptr_t address) { return address - text->begin < text->size; }

/* Begins recording if it has not begun, or continues it in the child of a fork.  returns  true if calls are recorded.
 */
bool capture_begin(void);
/* True in the child of a vfork, which runs in its parent's memory and whose calls are not recorded.  cost: one system
 * call. */
bool capture_in_borrowed_memory(void);
/* Returns the id of the process that records in this memory. */
int capture_process(void);
/* The path of the trace. */
extern char capture_path[4096];

/* True if a call made by `caller` is to be recorded. */
static inline __attribute__((always_inline)) bool capture_should_record(uintptr_t caller) {
  if (UNLIKELY(atomic_load_explicit(capture_state, memory_order_relaxed) != CAPTURE_ON) && !capture_begin())
    return false;
  if (UNLIKELY(capture_spawning != 0) && capture_in_borrowed_memory()) return false;
  if (UNLIKELY(capture_paused > 0) && (text_has(&capture_plait_text, caller) || chain_inside())) return false;
  return !text_has(&capture_own_text, caller);
}

/* True if Plait itself made a call that is not recorded. The kernel counts such calls, so account.c must count them. */
static inline bool capture_is_own(uintptr_t caller) {
  return text_has(&capture_own_text, caller) || text_has(&capture_plait_text, caller) ||
         (capture_paused > 0 && chain_inside());
}

/* Returns the time for an event. Makes no system call if no event is recorded. */
static inline int64_t capture_now(void) {
  return UNLIKELY(atomic_load_explicit(capture_state, memory_order_relaxed) == CAPTURE_OFF) ? 0 : plait_clock_now();
}

/* True if a call that opens or closes descriptors is to be recorded; always false in a vfork child, whose descriptors
 * are not those in the table. */
bool capture_should_record_table(uintptr_t caller);

/* Returns the interface of an event: streams if the C library made the call, `otherwise` if the program did. */
static inline uint8_t capture_interface(uintptr_t caller, int otherwise) {
  return (uint8_t)(text_has(&capture_libc_text, caller) ? PLAIT_INTERFACE_STDIO : otherwise);
}

/* --- account.c: compares the kernel's counters of this process with the recorded events --- */

struct counts {
  int64_t read_bytes;
  int64_t written_bytes;
  int64_t reads;
  int64_t writes;
};

/* Counters of the recorded calls, on separate cache lines for each thread.  The first ACCOUNT_OWNED threads have a slot
 * each, and later threads share the other slots.  The slots of the first PLAIT_ACCOUNT_SLOTS threads are in the trace,
 * so that they survive a kill of the process. */
struct account_slot {
  _Atomic int64_t read_bytes;
  _Atomic int64_t written_bytes;
  _Atomic int64_t reads;
  _Atomic int64_t writes;
  _Atomic int64_t reading; /* 1 while the thread is in a read call */
  int64_t spare[3];
};
#define ACCOUNT_SLOTS 256
#define ACCOUNT_OWNED 192
extern struct account_slot account_slots[ACCOUNT_SLOTS];
extern __thread struct account_slot* account_own_slot __attribute__((tls_model("initial-exec")));
/* Assigns a slot to this thread. */
struct account_slot* account_new_slot(void);

static inline struct account_slot* account_slot(void) {
  struct account_slot* slot = account_own_slot;
  return LIKELY(slot != NULL) ? slot : account_new_slot();
}
/* Adds to a counter in a slot. A signal handler may interrupt it, so it is one instruction. No other thread adds to
 * an owned slot, so that this needs no bus lock. */
static inline void account_add(const struct account_slot* slot, _Atomic int64_t* sum, int64_t by) {
#if defined(__x86_64__)
  if (LIKELY((uintptr_t)slot - (uintptr_t)&account_slots[ACCOUNT_OWNED] >=
             (ACCOUNT_SLOTS - ACCOUNT_OWNED) * sizeof *slot)) {
    __asm__("addq %1, %0" : "+m"(*sum) : "er"(by) : "cc");
    return;
  }
#else
  (void)slot;
#endif
  // Relaxed: the counters order no other data, and account_compare() waits a little for late additions.
  atomic_fetch_add_explicit(sum, by, memory_order_relaxed);
}
/* Marks the begin and end of a read call.  If a kill interrupts it, the program never saw the bytes counted for it. */
static inline void account_mark_reading(int64_t reading) {
  atomic_store_explicit(&account_slot()->reading, reading, memory_order_relaxed);
}
/* Add a read or a write call with this result to the counters. */
static inline void account_read(int64_t result) {
  struct account_slot* slot = account_slot();
  account_add(slot, &slot->reads, 1);
  if (result > 0) account_add(slot, &slot->read_bytes, result);
}
static inline void account_write(int64_t result) {
  struct account_slot* slot = account_slot();
  account_add(slot, &slot->writes, 1);
  if (result > 0) account_add(slot, &slot->written_bytes, result);
}
/* Reads a small file of /proc, and counts this as a read that is not the program's.  returns  bytes, or -errno. */
long account_read_file(const char* path, char* text, size_t capacity);
/* Called at the begin of the process: everything counted so far belongs to the kernel's exec and the loader. */
void account_start(void);
/* Called in the child of a fork: the kernel's counters begin at zero, and so do these. */
void account_reset_in_child(void);
/* Moves the counters into the trace file, where they survive a kill, after this process has joined the trace. */
void account_move_to_trace(void);
/* Marks this process as one with asynchronous requests, which the kernel does not count. */
void account_mark_asynchronous(void);
/* Called before the wait for an ended child. In the wait the kernel adds the child's counters to this process's, so
 * they are subtracted from the next difference. */
void account_subtract_child(int child);
/* Compares the counters and reports what the kernel counted and no event contains as missed. */
void account_compare(void);
/* Writes "pid read written reads writes", the kernel's counters at an exec. The environment passes the text to the next
 * program. */
void account_hand_over(char* text, size_t capacity);

/* --- table.c: descriptors and their open file descriptions (POSIX) --- */

enum description_flags {
  DESCRIPTION_SEEKABLE = 1, /* has positions: a file or a block device */
  DESCRIPTION_APPEND = 2,
  DESCRIPTION_DIRECT = 4,
  DESCRIPTION_DURABLE = 32, /* O_SYNC or O_DSYNC: a write ends when its bytes are on the device */
  DESCRIPTION_MEMORY = 16,  /* named memory of processes: shared memory */
  DESCRIPTION_SHARED = 8    /* was open before: other processes may move its position */
};

/* The result of one open: shared by the descriptors that dup makes of it. */
struct description {
  _Atomic int64_t position; /* negative: not known */
  _Atomic uint32_t begun;   /* numbers of calls that use the position: begun and ended */
  _Atomic uint32_t ended;
  _Atomic uint32_t file; /* number from plait_events_name */
  _Atomic int32_t descriptors;
  _Atomic uint32_t flags;
  uint32_t forks; /* capture_forks when it was opened */
  _Atomic uint32_t next_free;
  uint32_t number;
} __attribute__((aligned(64)));

extern _Atomic uint32_t capture_forks; /* number of times that descriptors may have reached other processes */

/* Returns the description of a descriptor; queries the kernel if it is not known.  NULL: the descriptor is not open,
 * or there is no memory. */
struct description* table_find(int fd);
/* Returns the description of a descriptor if it is known, without a query. */
struct description* table_find_known(int fd);
/* Adds a new open: `name` is the argument of open, or NULL to query the kernel. */
struct description* table_open(int fd, const char* name, int flags);
/* Makes `to` refer to the description of `from`, and closes its previous one. */
void table_duplicate(int from, int to);
/* Removes and returns the description of a descriptor, before it is closed; may be NULL. */
struct description* table_remove(int fd);
/* Called after the close: records it if this was the last descriptor. */
void table_release(struct description* description, int64_t start, uintptr_t caller);
/* Records that all descriptors between first and last were closed. */
void table_close_range(unsigned first, unsigned last, int64_t start, uintptr_t caller);
void table_set_status(int fd, int flags);
/* Writes the kernel's name of an open descriptor.  returns  false if it is not open. */
bool table_name(int fd, char* name, size_t capacity);
/* Records that other processes may use the open descriptors from now on. */
static inline void table_mark_shared(void) { atomic_fetch_add_explicit(&capture_forks, 1, memory_order_relaxed); }

/* --- position.c: offsets of calls at the position of an open file --- */

/* One call that uses the position of an open file, from its begin to its end. */
struct position_use {
  int64_t before;  /* the kernel's position, or the size of the file, before the call */
  uint32_t ticket; /* number of the call among those that use the position */
  uint8_t source;  /* an enum position_source */
  bool first;      /* all calls with earlier tickets had ended */
};
/* Called before each read or write at the position, and before each seek. */
void position_begin_call(struct position_use* position_use, struct description* description, int fd, bool write);
/* returns  the offset at which `result` bytes were transferred; -1: unknown. */
int64_t position_end_call(const struct position_use* position_use, struct description* description, int fd,
                          int64_t result);
/* Returns the size of a file; -1: unknown. */
int64_t position_size(int fd);
/* Sets the position to `result`, after lseek. */
void position_end_seek(const struct position_use* position_use, struct description* description, int64_t result);

/* --- events --- */

/* Returns the flag of a logical request, one of the program itself, or 0 for a physical request: one that another
 * preloaded library makes to carry out a logical one. */
static inline uint16_t capture_level(void) { return chain_inside() ? 0 : PLAIT_EVENT_LOGICAL; }

/* Writes the event of a call that ends now. */
static inline void put_event(struct plait_event event) {
  event.duration = plait_clock_now() - event.start;
  event.flags |= capture_level();
  plait_events_put(&event);
}

/* --- code/elf.c, code/patch.c --- */

struct module;
/* Returns the address of the C library's own function, or NULL if there is none; size: bytes of its code. */
void* libc_function(const char* name, size_t* size);
/* Determines the code ranges declared above. */
void elf_find_texts(void);
/* The loader of this program, and the version 2.N of the GNU C library that this library needs at least. */
extern const char* capture_loader;
extern int capture_needs_glibc;
/* Looks for functions in the libraries that come after this one, in the loader's order.  found: NULL if no library
 * defines the name, or if the first one that does only wraps system calls; the caller sets all of them to NULL
 * before. */
void elf_find_next(const char* const* names, void** found, int count);
/* Returns how often the loader has ever loaded a library. */
uint64_t elf_libraries_loaded(void);
/* Makes the C library's functions jump to ours.  returns  true if all do. */
bool patch_libc(void);

/* --- calls/aio.c, uring/uring.c: asynchronous requests --- */

/* Called at the end of the process: counts requests as missed whose completion no call reported. */
void aio_end(void);
void uring_end(void);
/* Called in the child of a fork: discards the requests, which are the parent's. */
void aio_reset_in_child(void);
void uring_reset_in_child(void);
/* Called before a descriptor is closed: releases the mappings of its ring, if it is a ring. */
void uring_remove(int fd);
/* Does the same for all descriptors from first to last. */
void uring_remove_range(unsigned first, unsigned last);
/* True if a descriptor is a ring whose requests are recorded. */
bool uring_is_known(int fd);

/* --- the end --- */

/* Ends the recording of this process, before the process ends. */
void capture_end(void);
/* Ends the recording before the program restricts its own system calls (seccomp) or its access to the clock. From then
 * on this process, and children that it forks, make only the system calls that the program requests. One missed call
 * in the trace states that recording stopped. */
void capture_stop(void);
/* Records the bytes that the loader read since dlopen was called. */
void account_record_loader(void);
extern _Atomic int account_dlopen_called; /* 1 if dlopen was called since the last account_record_loader() */
