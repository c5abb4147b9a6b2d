// Redirects imported functions by changing the tables of the dynamic linker.
//
// Each loaded object has tables of relocations: a symbol, and the location that holds its address. redirect() finds
// the relocations whose symbol has the requested name and whose location holds the original's address (or an
// unresolved one), and stores the replacement there.
//
// Example: libuser.so calls MPI_Init. Its table DT_JMPREL has an entry with the symbol MPI_Init and a location that
// holds either the address in libmpi.so or, before the first call, an address in libuser.so's own stub. Both are
// replaced.

#include "base/linker/imports.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace plait::base {

namespace {

#if defined(__x86_64__)
constexpr bool is_address(std::uint64_t type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}
#elif defined(__aarch64__)
constexpr bool is_address(std::uint64_t type) {
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
}
#else
constexpr bool is_address(std::uint64_t /*type*/) { return false; }
#endif

struct Redirection {
  const char* name;
  void (*original)();
  void (*replacement)();
  int count = 0;
};

/// The tables of one loaded object.
class Object {
 public:
  explicit Object(const dl_phdr_info& info) : base_(info.dlpi_addr), segments_(info.dlpi_phdr, info.dlpi_phnum) {
    for (const auto& segment : segments_)
      if (segment.p_type == PT_DYNAMIC) read(reinterpret_cast<const ElfW(Dyn)*>(base_ + segment.p_vaddr));
  }

  int redirect(const Redirection& redirection) const {
    if (symbols_ == nullptr || names_ == nullptr) return 0;
    int count = 0;
    for (const auto table : {calls_, others_})
      for (const auto& entry : table)
        if (is_address(ELF64_R_TYPE(entry.r_info)) && entry.r_addend == 0 &&
            is_redirectable(symbols_[ELF64_R_SYM(entry.r_info)], base_ + entry.r_offset, redirection) &&
            write(base_ + entry.r_offset, redirection.replacement))
          ++count;
    return count;
  }

 private:
  using Table = std::span<const Elf64_Rela>;

  void read(const ElfW(Dyn) * entry) {
    std::size_t calls = 0;
    std::size_t others = 0;
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols_ = at<const ElfW(Sym)*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) names_ = at<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_JMPREL) calls_ = Table(at<const Elf64_Rela*>(entry->d_un.d_ptr), 0);
      if (entry->d_tag == DT_RELA) others_ = Table(at<const Elf64_Rela*>(entry->d_un.d_ptr), 0);
      if (entry->d_tag == DT_PLTRELSZ) calls = entry->d_un.d_val / sizeof(Elf64_Rela);
      if (entry->d_tag == DT_RELASZ) others = entry->d_un.d_val / sizeof(Elf64_Rela);
    }
    calls_ = Table(calls_.data(), calls_.data() == nullptr ? 0 : calls);
    others_ = Table(others_.data(), others_.data() == nullptr ? 0 : others);
  }

  /// glibc stores absolute addresses in the dynamic section, musl stores offsets from base_.
  template <typename Pointer>
  Pointer at(std::uint64_t address) const {
    return reinterpret_cast<Pointer>(address < base_ ? base_ + address : address);
  }

  /// True if the address stored at `location` is that of the original, or one that the linker has not resolved yet:
  /// such an address is in this object. Any other address must stay: a tool may have stored it, or it may be the value
  /// of a variable of the program.
  ///
  /// A program that is not position-independent and takes the address of the function has a stub that represents the
  /// function in all objects (an undefined symbol with a value). The stub must continue to call the original.
  bool is_redirectable(const ElfW(Sym) & symbol, std::uint64_t location, const Redirection& redirection) const {
    if (std::strcmp(names_ + symbol.st_name, redirection.name) != 0) return false;
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_value != 0) return false;
    const std::uint64_t stored = *reinterpret_cast<const std::uint64_t*>(location);
    return stored == reinterpret_cast<std::uint64_t>(redirection.original) ||
           std::ranges::any_of(segments_, [&](const auto& segment) {
             return segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && contains(segment, stored);
           });
  }

  bool contains(const ElfW(Phdr) & segment, std::uint64_t address) const {
    const std::uint64_t begin = base_ + segment.p_vaddr;
    return begin <= address && address < begin + segment.p_memsz;
  }

  /// Overwrites one address.  RELRO makes the whole pages of a segment read-only after relocation by the dynamic
  /// linker; this function makes such a page writable during the write.
  bool write(std::uint64_t address, void (*replacement)()) const {
    const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    bool writable = false;
    bool read_only = false;
    for (const auto& segment : segments_) {
      if (!contains(segment, address)) continue;
      const std::uint64_t end = base_ + segment.p_vaddr + segment.p_memsz;
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) writable = true;
      if (segment.p_type == PT_GNU_RELRO && address < end / page_size * page_size) read_only = true;
    }
    if (!writable) return false;
    auto* const page = reinterpret_cast<void*>(address / page_size * page_size);
    if (read_only && ::mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
    std::atomic_ref(*reinterpret_cast<std::uintptr_t*>(address)) = reinterpret_cast<std::uintptr_t>(replacement);
    if (read_only) ::mprotect(page, page_size, PROT_READ);
    return true;
  }

  std::uint64_t base_;
  std::span<const ElfW(Phdr)> segments_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  Table calls_;   // DT_JMPREL: functions, which the linker may resolve on their first call
  Table others_;  // DT_RELA: all other relocations
};

int redirect_object(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& redirection = *static_cast<Redirection*>(data);
  redirection.count += Object(*info).redirect(redirection);
  return 0;
}

int read_count(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  *static_cast<unsigned long long*>(data) = info->dlpi_adds;
  return 1;
}

}  // namespace

int redirect_imports(const char* name, void (*original)(), void (*replacement)()) {
  Redirection redirection{name, original, replacement};
  ::dl_iterate_phdr(redirect_object, &redirection);
  return redirection.count;
}

unsigned long long loaded_objects() {
  unsigned long long count = 0;
  ::dl_iterate_phdr(read_count, &count);
  return count;
}

}  // namespace plait::base
