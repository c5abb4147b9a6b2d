/*
 * The recording library: what its parts share.
 *
 * It is preloaded into programs that know nothing of it.  Every function here that stands in for one of the C library's
 * makes the system call itself and keeps an event of it; the C library's own functions are made to jump here too
 * (code/patch.c), so that what streams and the C library itself read and write is seen where it reaches the kernel.
 *
 * Rules for all of it: no allocation, no locks (a signal handler may come in anywhere), errno as the program expects
 * it.
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

/* --- state.c: whether this process records --- */

enum capture_state { CAPTURE_NOT_BEGUN = 0, CAPTURE_BEGINNING, CAPTURE_ON, CAPTURE_OFF };

/* Lies in a page that the kernel clears in the child of a fork, however it was forked. */
extern _Atomic int* capture_state;
/* Set where this thread made a child that shares its memory (vfork, posix_spawn): calls may be the child's. */
extern __thread int capture_spawning __attribute__((tls_model("initial-exec")));
/* In the parent, after a child that shared its memory: gives back what the child's exec left there. */
void capture_release_borrowed(void);
/* Above 0: what Plait's library calls in this thread it keeps itself. */
extern __thread int capture_paused __attribute__((tls_model("initial-exec")));

/* The parts of memory whose code is ours and the C library's. */
struct text {
  uintptr_t begin;
  uintptr_t size;
};
extern struct text capture_own_text;
extern struct text capture_libc_text;
extern struct text capture_plait_text; /* known from its first pause on */

static inline bool text_has(const struct text* text, uintptr_t address) { return address - text->begin < text->size; }

/* Begins where that has not happened; goes on in the child of a fork.  returns  whether calls are recorded. */
bool capture_begin(void);
/* The same in the child of a vfork, whose calls are not recorded.  cost: one system call where it may be one. */
bool capture_in_borrowed_memory(void);
int capture_process(void);
/* The trace's path. */
extern char capture_path[4096];

/* Whether to record a call that `caller` made. */
static inline __attribute__((always_inline)) bool capture_wanted(uintptr_t caller) {
  if (UNLIKELY(atomic_load_explicit(capture_state, memory_order_relaxed) != CAPTURE_ON) && !capture_begin())
    return false;
  if (UNLIKELY(capture_spawning != 0) && capture_in_borrowed_memory()) return false;
  if (UNLIKELY(capture_paused > 0) && (text_has(&capture_plait_text, caller) || chain_inside())) return false;
  return !text_has(&capture_own_text, caller);
}

/* True if Plait itself made a call that is not recorded; the kernel counts such calls as well. */
static inline bool capture_is_own(uintptr_t caller) {
  return text_has(&capture_own_text, caller) || text_has(&capture_plait_text, caller) ||
         (capture_paused > 0 && chain_inside());
}

/* The time for an event; nothing is asked of the system where none will be kept. */
static inline int64_t capture_now(void) {
  return UNLIKELY(atomic_load_explicit(capture_state, memory_order_relaxed) == CAPTURE_OFF) ? 0 : plait_clock_now();
}

/* Whether to record a call that changes the table of descriptors: the same, and certainly not a vfork child's. */
bool capture_table_wanted(uintptr_t caller);

static inline uint8_t capture_interface(uintptr_t caller, int otherwise) {
  return (uint8_t)(text_has(&capture_libc_text, caller) ? PLAIT_INTERFACE_STDIO : otherwise);
}

/* --- account.c: what the kernel counted and what was recorded --- */

struct counts {
  int64_t read_bytes;
  int64_t written_bytes;
  int64_t reads;
  int64_t writes;
};

/* Counters of this process, on separate cache lines for each thread.  The first ACCOUNT_OWNED threads have a slot
 * each.  The slots of the first PLAIT_ACCOUNT_SLOTS threads are in the trace, so that they survive a kill of the
 * process. */
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
struct account_slot* account_new_slot(void);

static inline struct account_slot* account_slot(void) {
  struct account_slot* slot = account_own_slot;
  return LIKELY(slot != NULL) ? slot : account_new_slot();
}
/* Adds to a counter in a slot.  Signal handlers may come in, so that it is one instruction, but other threads add to an
 * owned one nothing, so that the bus need not be locked. */
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
  atomic_fetch_add_explicit(sum, by, memory_order_relaxed);
}
/* Marks the begin and end of a read call.  If a kill interrupts it, the program never saw the bytes counted for it. */
static inline void account_reading(int64_t reading) {
  atomic_store_explicit(&account_slot()->reading, reading, memory_order_relaxed);
}
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
/* Reads a small file of /proc, and counts that as not the program's.  returns  bytes, or -errno. */
long account_slurp(const char* path, char* text, size_t room);
/* At the begin of the process: everything so far was the kernel's exec and the loader's. */
void account_start(void);
/* In the child of a fork: the kernel begins at zero, so do we. */
void account_forked(void);
/* Moves the sums into the trace, once this process is part of it. */
void account_keep(void);
/* Marks this process as one with requests that the kernel does not count. */
void account_asynchronous(void);
/* Before a child that ended is waited for: the kernel then counts its doings as its parent's. */
void account_child(int child);
/* Compares and reports the difference. */
void account_compare(void);
/* Writes "pid read written reads writes" of what the next program starts from, for the environment. */
void account_hand_over(char* text, size_t room);

/* --- table.c: descriptors and what they refer to --- */

enum description_flags {
  DESCRIPTION_SEEKABLE = 1, /* has positions: a file or a block device */
  DESCRIPTION_APPEND = 2,
  DESCRIPTION_DIRECT = 4,
  DESCRIPTION_DURABLE = 32, /* O_SYNC or O_DSYNC: a write ends when its bytes are on the device */
  DESCRIPTION_MEMORY = 16,  /* of processes, under a name: shared memory */
  DESCRIPTION_SHARED = 8    /* was open before: others may move its position */
};

/* What one open made: shared by the descriptors that dup makes of it. */
struct description {
  _Atomic int64_t position; /* negative: not known */
  _Atomic uint32_t begun;   /* calls that use the position: how many began and ended */
  _Atomic uint32_t ended;
  _Atomic uint32_t file; /* of plait_events_name */
  _Atomic int32_t descriptors;
  _Atomic uint32_t flags;
  uint32_t forks; /* of the process when it was opened */
  _Atomic uint32_t next_free;
  uint32_t number;
} __attribute__((aligned(64)));

extern _Atomic uint32_t capture_forks; /* how often descriptors may have come into other processes */

/* What a descriptor refers to; looks at it where it was not known.  NULL: it is not open, or there is no memory. */
struct description* table_find(int fd);
/* The same without looking. */
struct description* table_known(int fd);
/* A new open: `name` as it was given to open, or NULL where the system is to be asked. */
struct description* table_open(int fd, const char* name, int flags);
/* `to` now refers to what `from` does; closes what it was. */
void table_duplicate(int from, int to);
/* Takes what a descriptor refers to out of the table, before it is closed; may be NULL. */
struct description* table_take(int fd);
/* After the close: tells of it where it was the last descriptor. */
void table_release(struct description* description, int64_t start, uintptr_t caller);
/* All descriptors between first and last were closed. */
void table_close_range(unsigned first, unsigned last, int64_t start, uintptr_t caller);
void table_set_status(int fd, int flags);
/* Writes the kernel's name of an open descriptor.  returns  false if it is not open. */
bool table_name(int fd, char* name, size_t room);
/* Other processes may now use the descriptors that are open. */
static inline void table_shared(void) { atomic_fetch_add_explicit(&capture_forks, 1, memory_order_relaxed); }

/* --- position.c: where a call at the open's own position reads or writes --- */

struct moving {
  int64_t before;
  uint32_t ticket;
  uint8_t way;
  bool first; /* all calls with earlier tickets had ended */
};
void moving_begin(struct moving* moving, struct description* description, int fd, bool write);
/* returns  the offset at which `result` bytes were moved; -1: not known. */
int64_t moving_end(const struct moving* moving, struct description* description, int fd, int64_t result);
/* Size of a file; -1: not known. */
int64_t position_size(int fd);
/* After lseek: the position is `result`. */
void moving_set(const struct moving* moving, struct description* description, int64_t result);

/* --- events --- */

/* Logical for requests of the program, physical (0) for requests that a library makes within one. */
static inline uint16_t capture_level(void) { return chain_inside() ? 0 : PLAIT_EVENT_LOGICAL; }

/* Of a call that ends now. */
static inline void put_event(struct plait_event event) {
  event.duration = plait_clock_now() - event.start;
  event.flags |= capture_level();
  plait_events_put(&event);
}

/* --- code/elf.c, code/patch.c --- */

struct module;
/* Address of the C library's own function, NULL where it has none; size: bytes of its code. */
void* libc_function(const char* name, size_t* size);
/* Finds the parts of memory above. */
void elf_find_texts(void);
/* The loader of this program, and the version 2.N of the GNU C library that this library needs at least. */
extern const char* capture_loader;
extern int capture_needs_glibc;
/* Looks for functions in the libraries that come after this one, in the loader's order.  found: NULL if no library
 * defines the name, or if the first one that does only asks the kernel; the caller sets all of them to NULL before. */
void elf_find_next(const char* const* names, void** found, int count);
/* How often a library was ever loaded. */
uint64_t elf_libraries_loaded(void);
/* Makes the C library's functions jump to ours.  returns  whether all did. */
bool patch_libc(void);

/* --- calls/aio.c, uring/uring.c: asynchronous requests --- */

/* At the end of the process: what is not told of any more is counted as missed. */
void aio_end(void);
void uring_end(void);
/* In the child of a fork: they are the parent's. */
void aio_forked(void);
void uring_forked(void);
/* Whether the descriptor was of a ring, which is told of before it is closed. */
void uring_remove(int fd);
/* The same for all from first to last. */
void uring_remove_range(unsigned first, unsigned last);
bool uring_known(int fd);

/* --- the end --- */

/* Ends the process's part, then the process. */
void capture_leave(void);
/* Before the process has its system calls restricted, or may not ask for the time any more: from now on it makes no
 * calls but those that the program asks for, and neither do the children that it forks.  The rest counts as missed. */
void capture_stop(void);
/* Keeps what the loader read since dlopen was called. */
void account_loaded(void);
extern _Atomic int account_loading; /* dlopen was called since */
