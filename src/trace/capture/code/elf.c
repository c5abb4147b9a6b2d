/* The C library in memory: where its code lies, and the addresses of its own functions, also private ones. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>

#include "trace/capture/capture.h"

// What is needed of the C library's dynamic section.
static struct {
  uintptr_t base;
  const ElfW(Sym) * symbols;
  const char* strings;
  const uint32_t* hash;
  const ElfW(Half) * versions;
} libc;

static void text_of(const struct dl_phdr_info* info, struct text* text) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    text->begin = info->dlpi_addr + part->p_vaddr;
    text->size = part->p_memsz;
  }
}

static void read_dynamic(const struct dl_phdr_info* info) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    libc.base = info->dlpi_addr;
    const ElfW(Dyn)* entry = (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      // The loader has made addresses of these on every machine that Plait knows.
      const uintptr_t address = entry->d_un.d_ptr < libc.base ? libc.base + entry->d_un.d_ptr : entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) libc.symbols = (const ElfW(Sym)*)address;
      if (entry->d_tag == DT_STRTAB) libc.strings = (const char*)address;
      if (entry->d_tag == DT_GNU_HASH) libc.hash = (const uint32_t*)address;
      if (entry->d_tag == DT_VERSYM) libc.versions = (const ElfW(Half)*)address;
    }
  }
}

static int look_at(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size;
  (void)unused;
  struct text text = {0, 0};
  text_of(info, &text);
  if (text_has(&text, (uintptr_t)&look_at)) capture_own_text = text;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash != NULL ? slash + 1 : info->dlpi_name;
  if (strcmp(name, "libc.so.6") == 0) {
    capture_libc_text = text;
    read_dynamic(info);
  }
  return 0;
}

void elf_find_texts(void) { dl_iterate_phdr(look_at, NULL); }

static int count_loads(struct dl_phdr_info* info, size_t size, void* count) {
  if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof info->dlpi_adds)
    *(uint64_t*)count = (uint64_t)info->dlpi_adds;
  return 1;
}

uint64_t elf_libraries_loaded(void) {
  uint64_t count = 0;
  dl_iterate_phdr(count_loads, &count);
  return count;
}

void* libc_function(const char* name, size_t* size) {
  if (libc.symbols == NULL || libc.strings == NULL || libc.hash == NULL) return NULL;
  uint32_t hash = 5381;
  for (const char* c = name; *c != 0; ++c) hash = hash * 33 + (unsigned char)*c;
  // Number of buckets, first symbol, words of the filter, its shift; the filter, the buckets, the chains.
  const uint32_t buckets = libc.hash[0];
  const uint32_t* bucket = libc.hash + 4 + libc.hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  uint32_t number = bucket[hash % buckets];
  if (number < libc.hash[1]) return NULL;
  for (;; ++number) {
    const uint32_t link = chain[number - libc.hash[1]];
    const ElfW(Sym)* symbol = &libc.symbols[number];
    const bool old_version = libc.versions != NULL && (libc.versions[number] & 0x8000) != 0;
    if ((link | 1) == (hash | 1) && !old_version && symbol->st_value != 0 &&
        strcmp(libc.strings + symbol->st_name, name) == 0) {
      if (size != NULL) *size = symbol->st_size;
      return (void*)(libc.base + symbol->st_value);
    }
    if (link & 1) return NULL;
  }
}
