/*
 * The kernel's asynchronous I/O: io_submit and io_getevents, called through libaio or by the numbers of their system
 * calls.
 *
 * The completion of a request contains the address of its control block. A table holds each request under that
 * address from the call that submits it to the call that reports its end. Completions that the program reads from the
 * ring in memory, without a call, are missed.
 *
 * The table is open-addressed and lock-free: `block` changes from 0 to 1 by a compare-and-exchange, the fields are
 * written, and `block` becomes the address last, so that a reader never sees a half-written slot.
 */
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/capture/calls.h"

enum { TABLE_SLOTS = 1 << 15, MAX_PROBES = 256 };

struct aio_request {
  _Atomic uintptr_t block;  // 0: free, 1: being written
  unsigned long context;
  int64_t start, offset, length;
  uint32_t file;
  uint16_t flags;
  uint8_t kind;
};

static _Atomic(struct aio_request*) request_table;

// Returns the table, which the first call allocates; NULL: there is no memory.
static struct aio_request* get_request_table(void) {
  struct aio_request* table = atomic_load(&request_table);
  if (table != NULL) return table;
  const long memory = RAW6(SYS_mmap, NULL, TABLE_SLOTS * sizeof(struct aio_request), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if ((unsigned long)memory > -4096UL) return NULL;
  if (atomic_compare_exchange_strong(&request_table, &table, (struct aio_request*)memory))
    return (struct aio_request*)memory;
  RAW2(SYS_munmap, memory, TABLE_SLOTS * sizeof(struct aio_request));
  return table;
}

// Returns the slot at which the search for a control block begins: 15 bits of a multiplicative hash of its address.
static size_t hash_slot(uintptr_t block) { return (size_t)((block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 49); }

// Sets the fields of a request from its control block.  returns  false if it becomes no event.
static bool describe(const struct iocb* block, struct aio_request* request) {
  const struct description* description = table_find((int)block->aio_fildes);
  const uint32_t about = description == NULL ? 0 : atomic_load(&description->flags);
  request->file = description == NULL ? 0 : atomic_load(&description->file);
  request->offset = block->aio_offset;
  request->length = (int64_t)block->aio_nbytes;
  request->flags = PLAIT_EVENT_LOGICAL | PLAIT_EVENT_ASYNCHRONOUS;
  if (about & DESCRIPTION_DIRECT) request->flags |= PLAIT_EVENT_DIRECT;
  switch (block->aio_lio_opcode) {
    case IOCB_CMD_PREAD: request->kind = PLAIT_EVENT_READ; break;
    case IOCB_CMD_PWRITE: request->kind = PLAIT_EVENT_WRITE; break;
    case IOCB_CMD_FSYNC:
    case IOCB_CMD_FDSYNC:
      request->kind = PLAIT_EVENT_SYNC;
      request->offset = -1;
      request->length = 0;
      break;
    case IOCB_CMD_PREADV:
    case IOCB_CMD_PWRITEV: {
      const struct iovec* parts = (const struct iovec*)(uintptr_t)block->aio_buf;
      request->kind = block->aio_lio_opcode == IOCB_CMD_PREADV ? PLAIT_EVENT_READ : PLAIT_EVENT_WRITE;
      request->length = capture_vector_length(parts, (int64_t)block->aio_nbytes, false);
      break;
    }
    default: return false;
  }
  if (request->kind == PLAIT_EVENT_WRITE && ((about & DESCRIPTION_APPEND) || (block->aio_rw_flags & RWF_APPEND))) {
    request->offset = -1;
    request->flags |= PLAIT_EVENT_APPEND;
  }
  const bool durable = (about & DESCRIPTION_DURABLE) || (block->aio_rw_flags & (RWF_DSYNC | RWF_SYNC));
  if (request->kind == PLAIT_EVENT_WRITE && durable) request->flags |= PLAIT_EVENT_DURABLE;
  return true;
}

// Adds a request. `block` is its address in the program, and `contents` a copy of the control block.
static void add_request(const struct iocb* block, const struct iocb* contents, unsigned long context, int64_t start) {
  struct aio_request request = {.context = context, .start = start};
  if (!describe(contents, &request)) return;
  struct aio_request* table = get_request_table();
  for (size_t i = 0; table != NULL && i < MAX_PROBES; ++i) {
    struct aio_request* slot = &table[(hash_slot((uintptr_t)block) + i) % TABLE_SLOTS];
    uintptr_t key = atomic_load_explicit(&slot->block, memory_order_relaxed);
    if ((key != 0 && key != (uintptr_t)block) || !atomic_compare_exchange_strong(&slot->block, &key, 1)) continue;
    // The program uses this control block again, so it has read the previous completion without a call.
    if (key != 0) plait_events_missed(PLAIT_MISSED_COMPLETION, 1, 0, 0);
    slot->context = request.context;
    slot->start = request.start;
    slot->offset = request.offset;
    slot->length = request.length;
    slot->file = request.file;
    slot->flags = request.flags;
    slot->kind = request.kind;
    atomic_store(&slot->block, (uintptr_t)block);
    return;
  }
  plait_events_missed(PLAIT_MISSED_COMPLETION, 1, 0, 0);
}

// Copies the request of a control block and removes it from the table.  returns  false if it is not there.
static bool remove_request(uintptr_t block, struct aio_request* request) {
  struct aio_request* table = atomic_load(&request_table);
  for (size_t i = 0; table != NULL && i < MAX_PROBES; ++i) {
    struct aio_request* slot = &table[(hash_slot(block) + i) % TABLE_SLOTS];
    if (atomic_load(&slot->block) != block) continue;
    *request = (struct aio_request){.context = slot->context,
                                    .start = slot->start,
                                    .offset = slot->offset,
                                    .length = slot->length,
                                    .file = slot->file,
                                    .flags = slot->flags,
                                    .kind = slot->kind};
    return atomic_compare_exchange_strong(&slot->block, &block, 0);
  }
  return false;
}

long capture_io_submit(unsigned long context, long count, void* requests, struct next_call* next) {
  struct iocb** blocks = requests;
  const bool recorded = capture_should_record(0) && !chain_inside() && !capture_in_borrowed_memory();
  const int64_t start = capture_now();
  long examined = 0;  // the loop stops at the first unreadable block, as the kernel does
  for (; recorded && examined < count; ++examined) {
    struct iocb* block;
    struct iocb contents;
    if (!capture_peek(&blocks[examined], &block, sizeof block) || !capture_peek(block, &contents, sizeof contents))
      break;
    add_request(block, &contents, context, start);
  }
  const long result = next == CHAIN_END ? RAW3(SYS_io_submit, context, count, requests)
                                        : chain_call(next, 0, ARGUMENTS((long)context, count, (long)requests));
  if (recorded && result > 0) account_mark_asynchronous();
  struct aio_request unused;  // the kernel did not accept the requests from here on
  for (long i = result < 0 ? 0 : result; i < examined; ++i) remove_request((uintptr_t)blocks[i], &unused);
  return result;
}

long capture_io_getevents(long number, const long argument[6], struct next_call* next) {
  const long result = next == CHAIN_END ? raw_call6(number, argument[0], argument[1], argument[2], argument[3],
                                                    argument[4], argument[5])
                                        : chain_call(next, 0, argument);
  if (result <= 0 || !capture_should_record(0)) return result;
  const int64_t now = plait_events_now();
  const struct io_event* event = (const struct io_event*)argument[3];
  for (long i = 0; i < result; ++i, ++event) {
    struct aio_request request;
    if (!remove_request((uintptr_t)event->obj, &request)) continue;
    const struct plait_event completion = {.start = request.start,
                                           .duration = now - request.start,
                                           .offset = request.offset,
                                           .length = request.length,
                                           .result = event->res,
                                           .file = request.file,
                                           .kind = request.kind,
                                           .interface = PLAIT_INTERFACE_AIO,
                                           .flags = request.flags};
    plait_events_put(&completion);
  }
  return result;
}

// Discards the requests of a context, or with 0 all requests, whose completions will not be reported any more.
static void discard_requests(unsigned long context) {
  struct aio_request* table = atomic_load(&request_table);
  int64_t count = 0;
  for (size_t i = 0; table != NULL && i < TABLE_SLOTS; ++i) {
    uintptr_t block = atomic_load_explicit(&table[i].block, memory_order_relaxed);
    if (block <= 1 || (context != 0 && table[i].context != context)) continue;
    if (atomic_compare_exchange_strong(&table[i].block, &block, 0)) ++count;
  }
  if (count > 0) plait_events_missed(PLAIT_MISSED_COMPLETION, count, 0, 0);
}

long capture_io_destroy(unsigned long context, struct next_call* next) {
  const long result = next == CHAIN_END ? RAW1(SYS_io_destroy, context) : chain_call(next, 0, ARGUMENTS((long)context));
  if (result == 0 && capture_should_record(0)) discard_requests(context);
  return result;
}

void aio_end(void) { discard_requests(0); }
void aio_reset_in_child(void) {
  struct aio_request* table = atomic_load(&request_table);
  if (table != NULL) memset((void*)table, 0, TABLE_SLOTS * sizeof *table);
}

// Returns results as libaio does: errors are negative numbers, and errno is unchanged.
#define AIO_ANSWER(RESULT)    \
  const long result = RESULT; \
  return (int)(next == CHAIN_END ? result : library_result(next, result));
CHAINED(int, io_submit, (unsigned long context, long count, void* requests),
        AIO_ANSWER(capture_io_submit(context, count, requests, next)))
CHAINED(int, io_getevents, (unsigned long context, long min_events, long max_events, void* events, void* timeout),
        const long argument[6] = {(long)context, min_events, max_events, (long)events, (long)timeout};
        AIO_ANSWER(capture_io_getevents(SYS_io_getevents, argument, next)))
CHAINED(
    int, io_pgetevents,
    (unsigned long context, long min_events, long max_events, void* events, void* timeout, void* mask),
    const struct {
      void* set;
      size_t size;
    } signal_set = {mask, 8};
    // The next library's function takes the signal set; the kernel takes its address and size.
    const long set = next != CHAIN_END || mask == NULL ? (long)mask : (long)&signal_set;
    AIO_ANSWER(capture_io_getevents(SYS_io_pgetevents,
                                    ARGUMENTS((long)context, min_events, max_events, (long)events, (long)timeout, set),
                                    next)))
CHAINED(int, io_destroy, (unsigned long context), AIO_ANSWER(capture_io_destroy(context, next)))
CHAINED(int, io_queue_release, (unsigned long context), AIO_ANSWER(capture_io_destroy(context, next)))
