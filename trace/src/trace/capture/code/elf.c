/* Reads the ELF structures of the loaded libraries: the addresses of their code, and of functions by name. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>

#include "trace/capture/capture.h"

// Addresses from a library's dynamic section.
struct symbols {
  uintptr_t base;
  const ElfW(Sym) * symbols;
  const char* strings;
  size_t strings_size;
  const uint32_t* hash;        // DT_GNU_HASH
  const uint32_t* plain_hash;  // DT_HASH, for libraries without DT_GNU_HASH
  const ElfW(Half) * versions;
};
static struct symbols libc;

int capture_needs_glibc;
const char* capture_loader;

// Finds the executable range of a loaded object.
static void find_text(const struct dl_phdr_info* info, struct text* text) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    text->begin = info->dlpi_addr + part->p_vaddr;
    text->size = part->p_memsz;
  }
}

// Reads the dynamic section of a loaded object.
static struct symbols read_dynamic(const struct dl_phdr_info* info) {
  struct symbols result = {.base = info->dlpi_addr};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn)* entry = (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      // The loader has converted these to addresses on every supported machine.
      const uintptr_t address = entry->d_un.d_ptr < result.base ? result.base + entry->d_un.d_ptr : entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) result.symbols = (const ElfW(Sym)*)address;
      if (entry->d_tag == DT_STRSZ) result.strings_size = entry->d_un.d_val;
      if (entry->d_tag == DT_STRTAB) result.strings = (const char*)address;
      if (entry->d_tag == DT_GNU_HASH) result.hash = (const uint32_t*)address;
      if (entry->d_tag == DT_HASH) result.plain_hash = (const uint32_t*)address;
      if (entry->d_tag == DT_VERSYM) result.versions = (const ElfW(Half)*)address;
    }
  }
  return result;
}

static const char* file_name(const struct dl_phdr_info* info) {
  const char* slash = strrchr(info->dlpi_name, '/');
  return slash != NULL ? slash + 1 : info->dlpi_name;
}

// Returns the newest version of the GNU C library among the symbol versions (GLIBC_2.N) in a string table.
static int newest_version(const struct symbols* library) {
  static const char version[] = "GLIBC_2.";
  int newest = 0;
  const char* end = library->strings + library->strings_size;
  for (const char* name = library->strings; name != NULL && name + sizeof version < end; name += strlen(name) + 1) {
    if (strncmp(name, version, sizeof version - 1) != 0) continue;
    int minor = 0;
    for (const char* digit = name + sizeof version - 1; *digit >= '0' && *digit <= '9'; ++digit)
      minor = minor * 10 + (*digit - '0');
    if (minor > newest) newest = minor;
  }
  return newest;
}

// Called for each loaded object: finds the code of this library and of the C library, and the name of the loader.
static int inspect_object(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size;
  (void)unused;
  struct text text = {0, 0};
  find_text(info, &text);
  if (text_has(&text, (uintptr_t)&inspect_object)) {
    capture_own_text = text;
    const struct symbols symbols = read_dynamic(info);
    capture_needs_glibc = newest_version(&symbols);
  }
  if (strncmp(file_name(info), "ld-", 3) == 0) capture_loader = info->dlpi_name;
  if (strcmp(file_name(info), "libc.so.6") == 0) {
    capture_libc_text = text;
    libc = read_dynamic(info);
  }
  return 0;
}

void elf_find_texts(void) { dl_iterate_phdr(inspect_object, NULL); }

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

// Returns the number of the symbol; 0 if there is none.
static uint32_t find_by_gnu_hash(const struct symbols* library, const char* name) {
  uint32_t hash = 5381;
  for (const char* c = name; *c != 0; ++c) hash = hash * 33 + (unsigned char)*c;
  // Layout: number of buckets, first symbol, words of the filter, shift of the filter; then the filter, the buckets,
  // the chains. The chain of a bucket ends at a hash whose lowest bit is set.
  const uint32_t buckets = library->hash[0];
  const uint32_t* bucket = library->hash + 4 + library->hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  uint32_t number = buckets == 0 ? 0 : bucket[hash % buckets];
  if (number < library->hash[1]) return 0;
  for (;; ++number) {
    const uint32_t link = chain[number - library->hash[1]];
    const bool old_version = library->versions != NULL && (library->versions[number] & 0x8000) != 0;
    if ((link | 1) == (hash | 1) && !old_version && library->symbols[number].st_value != 0 &&
        strcmp(library->strings + library->symbols[number].st_name, name) == 0)
      return number;
    if (link & 1) return 0;
  }
}

static uint32_t find_by_plain_hash(const struct symbols* library, const char* name) {
  uint32_t hash = 0;
  for (const char* c = name; *c != 0; ++c) {
    hash = (hash << 4) + (unsigned char)*c;
    hash = (hash ^ ((hash & 0xf0000000U) >> 24)) & 0x0fffffffU;
  }
  const uint32_t buckets = library->plain_hash[0];
  uint32_t number = buckets == 0 ? 0 : library->plain_hash[2 + hash % buckets];
  for (; number != 0; number = library->plain_hash[2 + buckets + number])
    if (library->symbols[number].st_value != 0 && library->symbols[number].st_shndx != SHN_UNDEF &&
        strcmp(library->strings + library->symbols[number].st_name, name) == 0)
      return number;
  return 0;
}

static void* find_function(const struct symbols* library, const char* name, size_t* size) {
  if (library->symbols == NULL || library->strings == NULL || (library->hash == NULL && library->plain_hash == NULL))
    return NULL;
  const uint32_t number = library->hash != NULL ? find_by_gnu_hash(library, name) : find_by_plain_hash(library, name);
  if (number == 0) return NULL;
  const ElfW(Sym)* symbol = &library->symbols[number];
  if (size != NULL) *size = symbol->st_size;
  return (void*)(library->base + symbol->st_value);
}

void* libc_function(const char* name, size_t* size) { return find_function(&libc, name, size); }

// Libraries whose functions only wrap system calls, which the recorder makes itself: the parts of the GNU C library,
// the loader, libaio and liburing.
static bool wraps_system_calls(const char* name) {
  static const char* const prefixes[] = {"libc.so.6", "libpthread.so.", "libdl.so.",   "librt.so.",    "libutil.so.",
                                         "ld-linux",  "libaio.so.",     "liburing.so", "linux-vdso.so"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return true;
  return false;
}

struct search {
  const char* const* names;
  void** found;
  int count;
  bool is_after_this_library;
};

// Stored as the result for a name that a library defines which only wraps system calls. The loader would bind the name
// to that library, so the search ends there.
#define MAKES_SYSTEM_CALL ((void*)1)

// Called for each loaded object, in the loader's order: looks up the names of a search that have no result yet.
static int find_next_in(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  struct text text = {0, 0};
  find_text(info, &text);
  if (text_has(&text, (uintptr_t)&inspect_object)) {
    search->is_after_this_library = true;
    return 0;
  }
  if (!search->is_after_this_library) return 0;
  const bool wrapper = wraps_system_calls(file_name(info));
  const struct symbols symbols = read_dynamic(info);
  for (int i = 0; i < search->count; ++i) {
    if (search->names[i] == NULL || search->found[i] != NULL) continue;
    void* function = find_function(&symbols, search->names[i], NULL);
    search->found[i] = function != NULL && wrapper ? MAKES_SYSTEM_CALL : function;
  }
  return 0;
}

void elf_find_next(const char* const* names, void** found, int count) {
  struct search search = {.names = names, .found = found, .count = count};
  dl_iterate_phdr(find_next_in, &search);
  for (int i = 0; i < count; ++i)
    if (found[i] == MAKES_SYSTEM_CALL) found[i] = NULL;
}
