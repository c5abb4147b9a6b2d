/*
 * The offset of a call that reads or writes at the position of the open file.
 *
 * Problem: the kernel does not return the offset, and a query before each call would double the number of system
 * calls.
 *
 * Idea: if no other process can use the open file, its position is tracked here. The tracked position is valid only
 * if no other call of this process used it at the same time. A call takes a ticket. It was alone if all earlier calls
 * had ended when it began, and no other has begun when it ends. It updates the position before it increments `ended`,
 * and only if the position is unchanged since it was read. A call that was not alone stores a mark that contains its
 * ticket, so that a slower call cannot mistake it for the position that it has read.
 *
 * Example: position = 100, begun = ended = 6. A read of 50 bytes takes ticket 7 and finds ended = 6 = 7 - 1. At its
 * end begun is still 7, so its offset is 100, the position becomes 150 and ended 7. If another read had taken ticket
 * 8 meanwhile, neither would have been alone: both offsets would be unknown, and the first read would store
 * -1 - 7 = -8 as the position.
 *
 * If other processes may use the open file (it was open before the program began, or when a child was made), the
 * kernel is queried before and after the call, and the result is valid only if both positions agree with the
 * transferred bytes. Appends are queried afterwards. Otherwise the offset is unknown, which is better than a wrong
 * one.
 */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "trace/capture/capture.h"

// The source of an offset: none, the position tracked here, the end of the file, or queries of the kernel.
enum position_source { SOURCE_NONE, SOURCE_TRACKED, SOURCE_APPENDED, SOURCE_QUERIED };

// Asks the kernel for the position of a descriptor; -1: it has none.
static int64_t query_position(int fd) {
  const long position = RAW3(SYS_lseek, fd, 0, SEEK_CUR);
  return position < 0 ? -1 : position;
}

int64_t position_size(int fd) {
  struct stat about;
#ifdef SYS_newfstatat
  return RAW4(SYS_newfstatat, fd, "", &about, 0x1000) == 0 ? about.st_size : -1;  // 0x1000 is AT_EMPTY_PATH
#else
  return RAW2(SYS_fstat, fd, &about) == 0 ? about.st_size : -1;
#endif
}

void position_begin_call(struct position_use* position_use, struct description* description, int fd, bool write) {
  position_use->source = SOURCE_NONE;
  if (description == NULL) return;
  const uint32_t flags = atomic_load_explicit(&description->flags, memory_order_relaxed);
  if (!(flags & DESCRIPTION_SEEKABLE)) return;
  const bool append = write && (flags & DESCRIPTION_APPEND);
  if ((flags & DESCRIPTION_SHARED) ||
      description->forks != atomic_load_explicit(&capture_forks, memory_order_relaxed)) {
    position_use->source = SOURCE_QUERIED;
    position_use->before = append ? position_size(fd) : query_position(fd);
    return;
  }
  position_use->source = append ? SOURCE_APPENDED : SOURCE_TRACKED;
  position_use->ticket = atomic_fetch_add(&description->begun, 1) + 1;
  position_use->first = atomic_load(&description->ended) == position_use->ticket - 1;
}

// Returns a negative number that represents a position which is unknown since the call with this ticket.
static int64_t unknown_position(const struct position_use* position_use) { return -1 - (int64_t)position_use->ticket; }

// True if no other call of this process has used the position since this one began. Values of the description that
// were read before this check then belong to no other call.
static bool was_alone(const struct position_use* position_use, struct description* description) {
  return position_use->first && atomic_load(&description->begun) == position_use->ticket;
}

// Changes the position from `old_position` to `now` after a call that was alone. Leaves it if another call changed it.
static void set_position(const struct position_use* position_use, struct description* description, int64_t old_position,
                         int64_t now) {
  atomic_compare_exchange_strong(&description->position, &old_position, now < 0 ? unknown_position(position_use) : now);
}

int64_t position_end_call(const struct position_use* position_use, struct description* description, int fd,
                          int64_t result) {
  const int64_t transferred = result > 0 ? result : 0;
  if (position_use->source == SOURCE_NONE) return -1;
  if (position_use->source == SOURCE_QUERIED) {
    const int64_t after = query_position(fd);
    return position_use->before >= 0 && after - position_use->before == transferred ? position_use->before : -1;
  }
  int64_t old_position = atomic_load(&description->position);
  int64_t before = old_position;
  if (position_use->first && (old_position < 0 || (position_use->source == SOURCE_APPENDED && transferred > 0))) {
    const int64_t after = query_position(fd);
    before = after < 0 ? -1 : after - transferred;
  }
  if (was_alone(position_use, description)) {
    set_position(position_use, description, old_position, before < 0 ? -1 : before + transferred);
  } else {
    before = -1;
    atomic_store(&description->position, unknown_position(position_use));
  }
  atomic_fetch_add(&description->ended, 1);
  return before;
}

void position_end_seek(const struct position_use* position_use, struct description* description, int64_t result) {
  if (position_use->source != SOURCE_TRACKED) return;
  const int64_t old_position = atomic_load(&description->position);
  if (!was_alone(position_use, description))
    atomic_store(&description->position, unknown_position(position_use));
  else if (result >= 0)
    set_position(position_use, description, old_position, result);
  atomic_fetch_add(&description->ended, 1);
}
