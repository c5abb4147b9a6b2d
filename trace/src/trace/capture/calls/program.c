/*
 * Finds out, before an exec, why the next program would not be recorded, from the file of the program and the rights of
 * this process. The reason is stored in the trace as a letter in front of the program's name.
 *
 * Only the loader of the GNU C library initializes the recording library.  musl's loader maps it, but the library stays
 * idle and keeps LD_PRELOAD, so that programs that a musl program starts are recorded again.  Other loaders may reject
 * the library and then fail to start the program, so exec removes the library from the environment of such programs.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/events/format.h"
#include "trace/capture/calls.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

// Scripts that name other scripts as their interpreters are followed to the depth MAX_SCRIPTS.
enum { MAX_SCRIPTS = 4, LONGEST_PATH = 2048 };

static bool starts_with(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

static const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

// True for ld-linux-x86-64.so.2, ld-linux-aarch64.so.1 and ld-2.31.so; the loaders of LSB are links to them.
static bool is_glibc_loader(const char* path) {
  const char* name = file_name(path);
  return starts_with(name, "ld-linux") || starts_with(name, "ld-lsb") || starts_with(name, "ld-2.") ||
         starts_with(name, "ld.so");
}

// Maps a file, because the kernel would count reads of it as the program's.  NULL if it cannot be mapped.
static const unsigned char* map_file(long fd, struct stat* about) {
#ifdef SYS_newfstatat
  const bool has_status = RAW4(SYS_newfstatat, fd, "", about, AT_EMPTY_PATH) == 0;
#else
  const bool has_status = RAW2(SYS_fstat, fd, about) == 0;
#endif
  if (!has_status || about->st_size <= 0) return NULL;
  const long head = RAW6(SYS_mmap, NULL, about->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  return (unsigned long)head > -4096UL ? NULL : (const unsigned char*)head;
}

// True if the loader belongs to another GNU C library, which is too old for this library: it would reject the library
// and not start the program.  Loaders contain their version since 2.33.
static bool is_too_old(const char* loader) {
  struct stat own_loader;
  struct stat about;
  if (capture_loader == NULL || RAW4(SYS_newfstatat, AT_FDCWD, capture_loader, &own_loader, 0) != 0) return false;
  const long fd = RAW4(SYS_openat, AT_FDCWD, loader, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  const unsigned char* head = map_file(fd, &about);
  RAW1(SYS_close, fd);
  if (head == NULL) return false;
  static const char label[] = "release version 2.";
  const char* end = (const char*)head + about.st_size;
  const char* digit = memmem(head, (size_t)about.st_size, label, sizeof label - 1);
  int minor = digit == NULL ? 32 : 0;
  if (digit != NULL) digit += sizeof label - 1;
  for (; digit != NULL && digit < end && *digit >= '0' && *digit <= '9'; ++digit) minor = minor * 10 + (*digit - '0');
  RAW2(SYS_munmap, head, about.st_size);
  const bool same = own_loader.st_dev == about.st_dev && own_loader.st_ino == about.st_ino;
  return !same && minor < capture_needs_glibc;
}

static enum obstacle find_loader_obstacle(const char* loader) {
  if (is_glibc_loader(loader)) return is_too_old(loader) ? OBSTACLE_LOADER : OBSTACLE_NONE;
  return starts_with(file_name(loader), "ld-musl-") ? OBSTACLE_MUSL : OBSTACLE_LOADER;
}

// Decides by the loader that an ELF program names.
static enum obstacle find_elf_obstacle(const unsigned char* head, size_t length) {
  Elf64_Ehdr header;
  if (length < sizeof header) return OBSTACLE_MACHINE;
  memcpy(&header, head, sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MACHINE) return OBSTACLE_MACHINE;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    if (header.e_phoff > length || header.e_phoff + (i + 1) * sizeof part > length) break;
    memcpy(&part, head + header.e_phoff + i * sizeof part, sizeof part);
    if (part.p_type != PT_INTERP) continue;
    char loader[256] = "";
    if (part.p_offset < length && part.p_filesz < sizeof loader && part.p_filesz <= length - part.p_offset)
      memcpy(loader, head + part.p_offset, part.p_filesz);
    return find_loader_obstacle(loader);
  }
  return OBSTACLE_STATIC;
}

static enum obstacle find_obstacle(int directory, const char* path, int flags, int depth);

// Decides by the contents of a program: an ELF file, or a script that begins with #! and names its interpreter.
static enum obstacle find_head_obstacle(const unsigned char* head, size_t length, int depth) {
  if (length > 4 && memcmp(head, ELFMAG, SELFMAG) == 0) return find_elf_obstacle(head, length);
  if (length < 3 || head[0] != '#' || head[1] != '!' || depth >= MAX_SCRIPTS) return OBSTACLE_NONE;
  char name[256];
  size_t position = 2;
  size_t count = 0;
  while (position < length && (head[position] == ' ' || head[position] == '\t')) ++position;
  while (position < length && count + 1 < sizeof name && strchr(" \t\n", head[position]) == NULL)
    name[count++] = (char)head[position++];
  name[count] = 0;
  return count == 0 ? OBSTACLE_NONE : find_obstacle(AT_FDCWD, name, 0, depth + 1);
}

// True if the program runs with more rights than this process; its loader then ignores libraries named by a path.
static bool gains_rights(long fd, const struct stat* about) {
  if ((about->st_mode & S_ISUID) && about->st_uid != geteuid()) return true;
  if ((about->st_mode & S_ISGID) && (about->st_mode & S_IXGRP) && about->st_gid != getegid()) return true;
  return geteuid() != 0 && RAW4(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0;
}

static enum obstacle find_obstacle(int directory, const char* path, int flags, int depth) {
  const char* name = file_name(path);
  if (starts_with(name, "ld-linux")) return OBSTACLE_NONE;  // a loader that is run as a program has no loader
  if (starts_with(name, "ld-musl-")) return OBSTACLE_MUSL;
  const bool is_open = (flags & AT_EMPTY_PATH) && *path == 0;
  const long fd = is_open ? directory : RAW4(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return OBSTACLE_NONE;  // executable but not readable, so that the loader is unknown
  struct stat about = {0};
  const unsigned char* head = map_file(fd, &about);
  enum obstacle result = OBSTACLE_NONE;
  if (gains_rights(fd, &about))
    result = OBSTACLE_RIGHTS;
  else if (head != NULL)
    result = find_head_obstacle(head, (size_t)about.st_size, depth);
  if (head != NULL) RAW2(SYS_munmap, head, about.st_size);
  if (!is_open) RAW1(SYS_close, fd);
  return result;
}

// True if a program that this process runs can write into the trace.  The trace may belong to another user or, since a
// chroot, be out of reach.  exec drops the capabilities of all users but root, and faccessat checks without them.
static bool can_join(void) {
  const uid_t user = geteuid();
  if (user != 0 && (uid_t)RAW0(SYS_getuid) == user)
    return RAW3(SYS_faccessat, AT_FDCWD, capture_path, R_OK | W_OK) == 0;
  const long fd = RAW4(SYS_openat, AT_FDCWD, capture_path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return fd == -ENFILE || fd == -EMFILE;
  RAW1(SYS_close, fd);
  return true;
}

enum obstacle program_find_obstacle(int directory, const char* path, int flags, bool requested) {
  if (!requested) return OBSTACLE_ASKED;
  const enum obstacle result = find_obstacle(directory, path, flags, 0);
  return result == OBSTACLE_NONE && !can_join() ? OBSTACLE_USER : result;
}

void program_count_unrecorded(int directory, const char* path, enum obstacle why, bool runs) {
  char name[sizeof PLAIT_UNRECORDED + 3 + LONGEST_PATH] = PLAIT_UNRECORDED;
  char* end = name + strlen(name);
  *end++ = runs ? '+' : '-';
  *end++ = (char)why;
  *end++ = ' ';
  *end = 0;
  // A relative path depends on the current directory, so the kernel's absolute name of the file is recorded.
  const long fd = RAW4(SYS_openat, directory, path, O_PATH | O_CLOEXEC, 0);
  if (!table_name(fd < 0 ? directory : (int)fd, end, LONGEST_PATH)) strncat(end, path, LONGEST_PATH - 1);
  if (fd >= 0) RAW1(SYS_close, fd);
  (void)plait_events_name(name);
  plait_events_missed(PLAIT_MISSED_PROCESS, runs ? 1 : -1, 0, 0);
}
