// Finding exactly the bytes that the library has changed.
//
// Problem: the kernel shows which pages of a private mapping have been copied, but not their former contents. Reading
// these from the file afterwards would be wrong, because another program may have written to the file between that
// read and the moment when the kernel copied the page.
//
// Idea: repeat the change. reset() maps the file anew and copies the pages that the former trials changed, before the
// library runs. Their contents at that moment are both the recorded former values and what the library starts from. A
// trial is exact if the library changes no other page.
//
// Example: before trial 1, reset() copies page 0 only. The library changes pages 0 and 7, so trial 1 is not exact. For
// trial 2, reset() copies pages 0 and 7. The library changes the same two, the trial is exact, and changes() compares
// each page with its copy.

#include "container/hdf5/changing/private_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "store/posix/descriptor.hpp"

namespace plait::container::hdf5 {

namespace {

/// Maximum number of bytes by which a change may extend the file. They reserve address space only.
constexpr std::int64_t kMaxGrowth = std::int64_t{1} << 30;
/// Number of bytes by which the core driver enlarges the file in its memory at a time.
constexpr std::size_t kCoreIncrement = std::size_t{64} << 10;
// The flags of an entry of /proc/self/pagemap.
constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62U;
constexpr std::uint64_t kFilePage = std::uint64_t{1} << 61U;  // the page belongs to the file: it has not been copied

/// The memory of the image that the library uses. It is global, because the library passes no data to the callbacks;
/// the lock of Library lets one thread at a time use it.
struct Memory {
  void* begin = nullptr;
  std::size_t bytes = 0;
};
Memory& memory() {
  static Memory memory;
  return memory;
}

// The callbacks by which the core driver allocates, copies, enlarges and frees the image. None of them moves a byte.
void* get_image_memory(std::size_t bytes, H5FD_file_image_op_t /*operation*/, void* /*data*/) {
  return bytes <= memory().bytes ? memory().begin : nullptr;
}
void* copy_nothing(void* to, const void* /*from*/, std::size_t /*bytes*/, H5FD_file_image_op_t /*operation*/,
                   void* /*data*/) {
  return to;
}
void* grow_in_place(void* /*old*/, std::size_t bytes, H5FD_file_image_op_t operation, void* data) {
  return get_image_memory(bytes, operation, data);
}
herr_t free_nothing(void* /*old*/, H5FD_file_image_op_t /*operation*/, void* /*data*/) { return 0; }

std::int64_t load_number(const std::byte* bytes) {
  std::int64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

}  // namespace

PrivateImage::PrivateImage(int file, std::int64_t size)
    : file_(file), size_(size), page_bytes_(::sysconf(_SC_PAGESIZE)) {
  if (size <= 0) return;
  reserved_bytes_ = (size + kMaxGrowth + page_bytes_ - 1) / page_bytes_ * page_bytes_;
  void* const begin = ::mmap(nullptr, static_cast<std::size_t>(reserved_bytes_), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin != MAP_FAILED) begin_ = static_cast<std::byte*>(begin);
}

PrivateImage::~PrivateImage() {
  memory() = {};
  if (begin_ != nullptr) ::munmap(begin_, static_cast<std::size_t>(reserved_bytes_));
}

bool PrivateImage::is_usable() {
  if (begin_ == nullptr) return false;
  // reset() copies page 0, which the kernel must then show.
  pages_ = {{0, {}}};
  if (!reset()) return false;
  const auto copied = copied_pages(1);
  return copied && *copied == std::vector<std::int64_t>{0};
}

bool PrivateImage::reset() {
  const auto bytes = static_cast<std::size_t>(reserved_bytes_);
  constexpr int kFlags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(begin_, bytes, PROT_READ | PROT_WRITE, kFlags | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ||
      ::mmap(begin_, static_cast<std::size_t>(size_), PROT_READ | PROT_WRITE, kFlags, file_, 0) == MAP_FAILED)
    return false;
  for (Page& page : pages_) {
    std::byte* const page_begin = begin_ + page.number * page_bytes_;
    // Writing the same value makes the kernel copy the page.
    volatile std::byte* const first_byte = page_begin;
    *first_byte = *first_byte;
    page.before.assign(page_begin, page_begin + page_bytes_);
  }
  return true;
}

Handle PrivateImage::access(const Library& hdf5) {
  memory() = {begin_, static_cast<std::size_t>(reserved_bytes_)};
  Handle access(hdf5->H5Pcreate(hdf5->H5P_CLS_FILE_ACCESS_ID_g), hdf5->H5Pclose);
  H5FD_file_image_callbacks_t callbacks{get_image_memory, copy_nothing, grow_in_place, free_nothing,
                                        nullptr,          nullptr,      nullptr};
  if (!access || hdf5->H5Pset_fapl_core(access.id(), kCoreIncrement, /*backing_store=*/false) < 0 ||
      hdf5->H5Pset_file_image_callbacks(access.id(), &callbacks) < 0 ||
      hdf5->H5Pset_file_image(access.id(), begin_, static_cast<std::size_t>(size_)) < 0)
    return {};
  return access;
}

std::optional<std::vector<std::int64_t>> PrivateImage::copied_pages(std::int64_t count) const {
  const store::posix::Descriptor pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (pagemap.number() < 0) return {};
  std::vector<std::int64_t> copied;
  constexpr std::int64_t kEntryBytes = sizeof(std::uint64_t);
  constexpr std::int64_t kPagesPerCall = std::int64_t{32} << 10;
  std::vector<std::uint64_t> entries(static_cast<std::size_t>(std::min(count, kPagesPerCall)));
  const auto first_page = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(begin_)) / page_bytes_;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t call_count = std::min(kPagesPerCall, count - done);
    const auto bytes = static_cast<std::size_t>(call_count) * kEntryBytes;
    if (::pread(pagemap.number(), entries.data(), bytes, (first_page + done) * kEntryBytes) !=
        static_cast<ssize_t>(bytes))
      return {};
    for (std::int64_t i = 0; i < call_count; ++i) {
      const std::uint64_t entry = entries[static_cast<std::size_t>(i)];
      if ((entry & kPresentOrSwapped) != 0 && (entry & kFilePage) == 0) copied.push_back(done + i);
    }
    done += call_count;
  }
  return copied;
}

bool PrivateImage::check_exact() {
  const auto copied = copied_pages(reserved_bytes_ / page_bytes_);
  if (!copied) return false;
  bool is_exact = true;
  for (const std::int64_t number : *copied) {
    if (std::ranges::find(pages_, number, &Page::number) != pages_.end()) continue;
    pages_.push_back({number, {}});
    is_exact = false;
  }
  std::ranges::sort(pages_, {}, &Page::number);
  return is_exact;
}

std::optional<std::int64_t> PrivateImage::stored_end() const {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  constexpr std::int64_t kMinFileBytes = 64;  // no superblock of these versions needs more
  // Offsets in superblocks of version 0 to 3: of the end of the file, and of the byte that states the size of offsets.
  constexpr std::array<std::int64_t, 4> kEndOffsets{40, 44, 28, 28};
  constexpr std::array<std::size_t, 4> kOffsetSizeOffsets{13, 13, 9, 9};
  if (size_ < kMinFileBytes || std::memcmp(begin_, kSignature.data(), kSignature.size()) != 0) return {};
  const auto version = static_cast<std::size_t>(begin_[kSignature.size()]);
  if (version >= kEndOffsets.size() || begin_[kOffsetSizeOffsets[version]] != std::byte{8}) return {};
  const std::int64_t end = load_number(begin_ + kEndOffsets[version]);
  if (end < kMinFileBytes || end > reserved_bytes_) return {};
  return end;
}

std::optional<FilePatch> PrivateImage::changes() const {
  const auto end = stored_end();
  if (!end) return {};
  FilePatch patch{size_, *end, {}};
  for (const Page& page : pages_) {
    const std::int64_t begin = page.number * page_bytes_;
    const std::byte* const after = begin_ + begin;
    const std::byte* const before = page.before.data();
    const std::int64_t bytes = std::min(page_bytes_, *end - begin);
    for (std::int64_t at = 0; at < bytes;) {
      // Bytes after the former end belong to no other program, so that one change covers all of them.
      const auto differs = [&](std::int64_t i) { return begin + i >= size_ || after[i] != before[i]; };
      const std::int64_t from = at;
      while (at < bytes && differs(at)) ++at;
      if (at > from)
        patch.bytes.push_back({begin + from, {before + from, before + at}, {after + from, after + at}});
      else
        ++at;
    }
  }
  return patch;
}

}  // namespace plait::container::hdf5
