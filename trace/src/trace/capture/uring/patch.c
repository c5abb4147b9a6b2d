/*
 * Calls that enter a ring in a program's own code, as in fio: "mov $426,%eax ... syscall", which no function wraps.
 *
 * When a program has set up a ring by a system call of its own, its code is searched for such calls. The mov is
 * replaced by a jump (both have five bytes) to a piece of code nearby, which enters the ring through our function and
 * returns to the instruction after the syscall. The bytes are written through /proc/self/mem, so no page is ever
 * writable and executable at once. Calls that cannot be changed stay as they are; the rings' counters show how many
 * requests were missed. x86-64 only.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/capture/uring/uring.h"

#if defined(__x86_64__)

#include <cpuid.h>

// Limits: calls that are replaced, bytes between a mov and its syscall, bytes of the code that replaces one call.
enum { MAX_SITES = 64, MAX_BETWEEN = 24, PIECE_BYTES = 96 };

void capture_enter_inline(void);  // defined in entries.S

struct search {
  uintptr_t address;
  struct text text;
};

static int find_object_text(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    const struct text text = {info->dlpi_addr + part->p_vaddr, part->p_memsz};
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || !text_has(&text, search->address)) continue;
    search->text = text;
    return 1;
  }
  return 0;
}

// Returns the length of an instruction that may run elsewhere: a move between registers, constants and memory that is
// not addressed relative to the instruction.  0: another instruction.
static size_t movable_length(const unsigned char* code) {
  size_t length = 0;
  bool wide = false;
  if ((*code & 0xf0) == 0x40) {
    wide = *code & 8;
    length = 1;
  }
  const unsigned char operation = code[length++];
  if (operation >= 0xb8 && operation <= 0xbf) return length + (wide ? 8 : 4);
  if (operation != 0x89 && operation != 0x8b && operation != 0x31 && operation != 0x33 && operation != 0x8d) return 0;
  const unsigned char form = code[length++];
  const unsigned mode = form >> 6;
  if (mode == 3) return length;
  const unsigned base = (form & 7) == 4 ? code[length++] & 7 : form & 7;
  if (mode == 0 && base == 5) return 0;
  return length + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

// Returns the bytes between the mov at `site` and its syscall; -1: there is no syscall.
static long bytes_between(const unsigned char* site, const unsigned char* end) {
  const unsigned char* code = site + 5;
  while (code + 16 < end && code - site - 5 <= MAX_BETWEEN) {
    if (code[0] == 0x0f && code[1] == 0x05) return code - site - 5;
    const size_t length = movable_length(code);
    if (length == 0) return -1;
    code += length;
  }
  return -1;
}

// Writes bytes.  returns  the address after them.
static unsigned char* append_bytes(unsigned char* to, const void* bytes, size_t count) {
  memcpy(to, bytes, count);
  return to + count;
}

// Writes the code that replaces one call: the instructions between mov and syscall, the call of our function below
// the part of the stack that leaf functions use (128 bytes), and the jump back.
static void write_piece(unsigned char* piece, const unsigned char* site, size_t between) {
  static const unsigned char down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};                  // lea -128(%rsp),%rsp
  static const unsigned char load[] = {0x49, 0xbb};                                    // movabs $...,%r11
  static const unsigned char call[] = {0x41, 0xff, 0xd3};                              // call *%r11
  static const unsigned char up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00};  // lea 128(%rsp),%rsp
  static const unsigned char jump[] = {0x41, 0xff, 0xe3};                              // jmp *%r11
  const uintptr_t target = (uintptr_t)&capture_enter_inline;
  const uintptr_t back = (uintptr_t)site + 5 + between + 2;
  piece = append_bytes(piece, site + 5, between);
  piece = append_bytes(piece, down, sizeof down);
  piece = append_bytes(piece, load, sizeof load);
  piece = append_bytes(piece, &target, sizeof target);
  piece = append_bytes(piece, call, sizeof call);
  piece = append_bytes(piece, up, sizeof up);
  piece = append_bytes(piece, load, sizeof load);
  piece = append_bytes(piece, &back, sizeof back);
  append_bytes(piece, jump, sizeof jump);
}

// Maps pages within reach of a 32-bit jump from the code.
static unsigned char* map_pages_near(const struct text* text, size_t size) {
  for (uintptr_t distance = 1; distance < 4096; ++distance) {
    for (int side = 0; side < 2; ++side) {
      const uintptr_t target_address = side == 0 ? (text->begin - distance * 0x40000) & ~UINT64_C(0xfff)
                                                 : (text->begin + text->size + distance * 0x40000) & ~UINT64_C(0xfff);
      const long mapped_address = RAW6(SYS_mmap, target_address, size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | 0x100000 /* MAP_FIXED_NOREPLACE */, -1, 0);
      if ((unsigned long)mapped_address > -4096UL) continue;
      if ((uintptr_t)mapped_address == target_address) return (unsigned char*)mapped_address;
      RAW2(SYS_munmap, mapped_address, size);
    }
  }
  return NULL;
}

// True if the processor has the xsave instruction, by which capture_enter_inline saves the vector registers.
static bool can_save_registers(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
}

void uring_patch(uintptr_t address) {
  static _Atomic uintptr_t patched_text;  // only one program per process; libraries are intercepted by their functions
  struct search search = {.address = address};
  if (!dl_iterate_phdr(find_object_text, &search) || text_has(&capture_libc_text, address)) return;
  if (atomic_exchange(&patched_text, search.text.begin) == search.text.begin || !can_save_registers()) return;
  static const unsigned char enter[] = {0xb8, 0xaa, 0x01, 0x00, 0x00};  // mov $426,%eax
  const unsigned char* end = (const unsigned char*)search.text.begin + search.text.size;
  const unsigned char* sites[MAX_SITES];
  int count = 0;
  const unsigned char* from = (const unsigned char*)search.text.begin;
  while (count < MAX_SITES && (from = memmem(from, (size_t)(end - from), enter, sizeof enter)) != NULL) {
    if (bytes_between(from, end) >= 0) sites[count++] = from;
    from += sizeof enter;
  }
  const size_t size = (MAX_SITES * PIECE_BYTES + 4095) & ~(size_t)4095;
  unsigned char* pieces = count == 0 ? NULL : map_pages_near(&search.text, size);
  if (pieces == NULL) return;
  for (int i = 0; i < count; ++i) write_piece(pieces + i * PIECE_BYTES, sites[i], (size_t)bytes_between(sites[i], end));
  if (RAW3(SYS_mprotect, pieces, size, PROT_READ | PROT_EXEC) != 0) {  // the system forbids new code
    RAW2(SYS_munmap, pieces, size);
    return;
  }
  const long memory = RAW4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
  for (int i = 0; memory >= 0 && i < count; ++i) {
    unsigned char jump[5] = {0xe9};
    const int32_t distance = (int32_t)(pieces + i * PIECE_BYTES - (sites[i] + sizeof jump));
    memcpy(jump + 1, &distance, sizeof distance);
    account_write(RAW4(SYS_pwrite64, memory, jump, sizeof jump, sites[i]));
  }
  if (memory >= 0) RAW1(SYS_close, memory);
}

#else

void uring_patch(uintptr_t address) { (void)address; }

#endif
