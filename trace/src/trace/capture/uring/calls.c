/* The calls of io_uring: by their numbers, and through liburing. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "trace/capture/calls.h"
#include "trace/capture/uring/uring.h"

#define REGISTERED_RING (1U << 4)  // this is IORING_ENTER_REGISTERED_RING
// Operations of io_uring_register, which the headers of some systems lack.
enum { FILES_ALL = 2, FILES_NONE = 3, FILES_SOME = 6, FILES_ALL_2 = 13, FILES_SOME_2 = 14, RINGS_ALL = 20 };

static __thread int registered_rings[16];  // descriptor + 1 of each slot

long capture_uring_setup(unsigned entries, void* parameters, uintptr_t caller) {
  const long fd = RAW2(SYS_io_uring_setup, entries, parameters);
  if (fd >= 0 && capture_should_record(0) && !capture_in_borrowed_memory()) {
    uring_add((int)fd, parameters);
    uring_patch(caller);
  }
  return fd;
}

long capture_uring_enter(int fd, unsigned submit, unsigned wait, unsigned flags, void* argument, size_t size) {
  const int64_t start = capture_now();
  const long result = RAW6(SYS_io_uring_enter, fd, submit, wait, flags, argument, size);
  if (!capture_should_record(0)) return result;
  if (flags & REGISTERED_RING) fd = fd >= 0 && fd < 16 ? registered_rings[fd] - 1 : -1;
  struct uring* ring = uring_find(fd);
  if (ring != NULL) uring_read_entries(ring, start);
  return result;
}

// Arguments of io_uring_register: struct io_uring_rsrc_update2 and struct io_uring_rsrc_register.
struct update {
  uint32_t offset;
  uint32_t spare;
  uint64_t data;
  uint64_t tags;
  uint32_t count;
  uint32_t spare_2;
};
struct request_batch {
  uint32_t count;
  uint32_t flags;
  uint64_t spare;
  uint64_t data;
  uint64_t tags;
};

// Follows a successful io_uring_register call that registers files or rings.
static void apply_registration(struct uring* ring, unsigned operation, const void* argument, unsigned count) {
  const struct request_batch* batch = argument;
  const struct update* update = argument;
  switch (operation) {
    case FILES_ALL: uring_register_files(ring, 0, argument, count, true); break;
    case FILES_NONE: uring_register_files(ring, 0, NULL, 0, true); break;
    case FILES_ALL_2: uring_register_files(ring, 0, (const int*)(uintptr_t)batch->data, batch->count, true); break;
    case FILES_SOME:
      uring_register_files(ring, update->offset, (const int*)(uintptr_t)update->data, count, false);
      break;
    case FILES_SOME_2:
      uring_register_files(ring, update->offset, (const int*)(uintptr_t)update->data, update->count, false);
      break;
    case RINGS_ALL:
      for (unsigned i = 0; i < count; ++i) {
        const struct io_uring_files_update* ring_update = (const struct io_uring_files_update*)argument + i;
        if (ring_update->offset < 16) registered_rings[ring_update->offset] = (int)ring_update->fds + 1;
      }
      break;
    default: break;
  }
}

long capture_uring_register(int fd, unsigned operation, void* argument, unsigned count) {
  const long result = RAW4(SYS_io_uring_register, fd, operation, argument, count);
  struct uring* ring = result >= 0 && capture_should_record(0) ? uring_find(fd) : NULL;
  if (ring != NULL) apply_registration(ring, operation, argument, count);
  return result;
}

/* --- liburing, whose functions make the system calls themselves --- */

// Returns the ring's descriptor from struct io_uring, whose layout liburing does not change.
static int ring_fd(const void* ring) { return *(const int*)(const void*)((const char*)ring + 196); }

typedef long liburing_function(void*, long, long, long, long);

// Returns liburing's own function. If a library that was loaded with RTLD_LOCAL, such as a Python extension, brought
// liburing in, RTLD_NEXT does not find it. The search bypasses our dlopen, because it loads nothing.
static void* find_liburing_function(_Atomic(void*)* cached, const char* name) {
  void* function = atomic_load_explicit(cached, memory_order_acquire);
  if (LIKELY(function != NULL)) return function;
  function = dlsym(RTLD_NEXT, name);
  static const char* const libraries[] = {"liburing.so.2", "liburing.so.1"};
  void* (*open_library)(const char*, int) = (void* (*)(const char*, int))libc_function("dlopen", NULL);
  if (open_library == NULL) open_library = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  for (size_t i = 0; open_library != NULL && i < sizeof libraries / sizeof *libraries; ++i) {
    void* library = open_library(libraries[i], RTLD_LAZY | RTLD_NOLOAD);  // stays open: its function is stored
    if (library != NULL && function == NULL) function = dlsym(library, name);
  }
  atomic_store_explicit(cached, function, memory_order_release);
  return function;
}

static long forward(_Atomic(void*)* cached, const char* name, void* ring, long b, long c, long d, long e) {
  liburing_function* function = (liburing_function*)find_liburing_function(cached, name);
  if (function == NULL) return -ENOSYS;
  const int64_t start = capture_now();
  const long result = function(ring, b, c, d, e);
  struct uring* recorded_ring = capture_should_record(0) ? uring_find(ring_fd(ring)) : NULL;
  if (recorded_ring != NULL) uring_read_entries(recorded_ring, start);
  return result;
}

#define FORWARD(NAME)                                            \
  EXPORT long NAME(void* ring, long b, long c, long d, long e) { \
    static _Atomic(void*) cached;                                \
    return forward(&cached, #NAME, ring, b, c, d, e);            \
  }
FORWARD(io_uring_submit)
FORWARD(io_uring_submit_and_wait)
FORWARD(io_uring_submit_and_wait_timeout)
FORWARD(io_uring_submit_and_get_events)
FORWARD(io_uring_get_events)
FORWARD(io_uring_wait_cqes)
FORWARD(io_uring_wait_cqe_timeout)
FORWARD(io_uring_peek_batch_cqe)
FORWARD(__io_uring_get_cqe)
FORWARD(__io_uring_sqring_wait)

EXPORT long io_uring_queue_init_params(unsigned entries, void* ring, struct io_uring_params* parameters) {
  static _Atomic(void*) cached;
  long (*function)(unsigned, void*, struct io_uring_params*) =
      (long (*)(unsigned, void*, struct io_uring_params*))find_liburing_function(&cached, "io_uring_queue_init_params");
  if (function == NULL) return -ENOSYS;
  const long result = (int)function(entries, ring, parameters);
  if (result >= 0 && capture_should_record(0) && !capture_in_borrowed_memory()) uring_add(ring_fd(ring), parameters);
  return result;
}
EXPORT long io_uring_queue_init(unsigned entries, void* ring, unsigned flags) {
  struct io_uring_params parameters = {.flags = flags};
  const long result = io_uring_queue_init_params(entries, ring, &parameters);
  return result < 0 ? result : 0;
}
EXPORT void io_uring_queue_exit(void* ring) {
  static _Atomic(void*) cached;
  void (*function)(void*) = (void (*)(void*))find_liburing_function(&cached, "io_uring_queue_exit");
  if (capture_should_record(0)) uring_remove(ring_fd(ring));
  if (function != NULL) function(ring);
}

EXPORT int io_uring_setup(unsigned entries, void* parameters) {
  return (int)capture_uring_setup(entries, parameters, CALLER());
}
EXPORT int io_uring_enter2(int fd, unsigned submit, unsigned wait, unsigned flags, void* argument, size_t size) {
  return (int)capture_uring_enter(fd, submit, wait, flags, argument, size);
}
EXPORT int io_uring_enter(int fd, unsigned submit, unsigned wait, unsigned flags, void* mask) {
  return (int)capture_uring_enter(fd, submit, wait, flags, mask, 8);
}
EXPORT int io_uring_register(int fd, unsigned operation, void* argument, unsigned count) {
  return (int)capture_uring_register(fd, operation, argument, count);
}

static long forward_files(const char* name, void* ring, unsigned first, const int* files, unsigned count, bool all,
                          long b, long c, long d) {
  _Atomic(void*) uncached = NULL;  // not stored: called rarely, and under many names
  liburing_function* function = (liburing_function*)find_liburing_function(&uncached, name);
  if (function == NULL) return -ENOSYS;
  const long result = (int)function(ring, b, c, d, 0);
  struct uring* recorded_ring = result >= 0 && capture_should_record(0) ? uring_find(ring_fd(ring)) : NULL;
  if (recorded_ring != NULL) uring_register_files(recorded_ring, first, files, count, all);
  return result;
}
EXPORT long io_uring_register_files(void* ring, const int* files, unsigned count) {
  return forward_files("io_uring_register_files", ring, 0, files, count, true, (long)files, count, 0);
}
EXPORT long io_uring_register_files_tags(void* ring, const int* files, const void* tags, unsigned count) {
  return forward_files("io_uring_register_files_tags", ring, 0, files, count, true, (long)files, (long)tags, count);
}
EXPORT long io_uring_register_files_sparse(void* ring, unsigned count) {
  return forward_files("io_uring_register_files_sparse", ring, 0, NULL, count, true, count, 0, 0);
}
EXPORT long io_uring_register_files_update(void* ring, unsigned first, const int* files, unsigned count) {
  return forward_files("io_uring_register_files_update", ring, first, files, count, false, first, (long)files, count);
}
EXPORT long io_uring_unregister_files(void* ring) {
  return forward_files("io_uring_unregister_files", ring, 0, NULL, 0, true, 0, 0, 0);
}
