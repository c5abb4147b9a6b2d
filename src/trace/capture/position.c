/*
 * Where a call at the open's own position reads or writes.
 *
 * The position of an open that no other process can have is followed here, which costs no system call; it counts only
 * where no other call of this process used it at the same time (a ticket taken before and compared after).  Where
 * others may have the open too (it was open before the program began, or when a child was made), and for appends, the
 * kernel is asked before and after, and the answer counts only where both agree with what was moved.  Otherwise the
 * offset is unknown: that is better than a wrong one.
 */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "trace/capture/capture.h"

enum way { WAY_NONE, WAY_FOLLOWED, WAY_APPENDED, WAY_ASKED };

static int64_t ask_position(int fd) {
  const long position = RAW3(SYS_lseek, fd, 0, SEEK_CUR);
  return position < 0 ? -1 : position;
}

int64_t position_size(int fd) {
  struct stat about;
#ifdef SYS_newfstatat
  return RAW4(SYS_newfstatat, fd, "", &about, 0x1000) == 0 ? about.st_size : -1;  // 0x1000: AT_EMPTY_PATH
#else
  return RAW2(SYS_fstat, fd, &about) == 0 ? about.st_size : -1;
#endif
}

void moving_begin(struct moving* moving, struct description* description, int fd, bool write) {
  moving->way = WAY_NONE;
  if (description == NULL) return;
  const uint32_t flags = atomic_load_explicit(&description->flags, memory_order_relaxed);
  if (!(flags & DESCRIPTION_SEEKABLE)) return;
  const bool append = write && (flags & DESCRIPTION_APPEND);
  if ((flags & DESCRIPTION_SHARED) ||
      description->forks != atomic_load_explicit(&capture_forks, memory_order_relaxed)) {
    moving->way = WAY_ASKED;
    moving->before = append ? position_size(fd) : ask_position(fd);
    return;
  }
  moving->way = append ? WAY_APPENDED : WAY_FOLLOWED;
  moving->ticket = atomic_fetch_add_explicit(&description->begun, 1, memory_order_relaxed) + 1;
}

// Whether no other call of this process used the position meanwhile.
static bool alone(const struct moving* moving, struct description* description) {
  const uint32_t ended = atomic_fetch_add_explicit(&description->ended, 1, memory_order_relaxed) + 1;
  return ended == moving->ticket && atomic_load_explicit(&description->begun, memory_order_relaxed) == moving->ticket;
}

int64_t moving_end(const struct moving* moving, struct description* description, int fd, int64_t result) {
  const int64_t moved = result > 0 ? result : 0;
  if (moving->way == WAY_NONE) return -1;
  if (moving->way == WAY_ASKED) {
    const int64_t after = ask_position(fd);
    return moving->before >= 0 && after - moving->before == moved ? moving->before : -1;
  }
  if (!alone(moving, description)) {
    atomic_store_explicit(&description->position, -1, memory_order_relaxed);
    return -1;
  }
  int64_t before = atomic_load_explicit(&description->position, memory_order_relaxed);
  if (before < 0 || (moving->way == WAY_APPENDED && moved > 0)) {
    const int64_t after = ask_position(fd);
    before = after < 0 ? -1 : after - moved;
  }
  atomic_store_explicit(&description->position, before < 0 ? -1 : before + moved, memory_order_relaxed);
  return before;
}

void moving_set(const struct moving* moving, struct description* description, int64_t result) {
  if (moving->way != WAY_FOLLOWED) return;
  const bool known = alone(moving, description) && result >= 0;
  if (result >= 0 || !known) atomic_store_explicit(&description->position, known ? result : -1, memory_order_relaxed);
}
