// The pages of an overlay, and the allocation of space in it.

#include "container/hdf5/growth/overlay.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "store/posix/descriptor.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kAlignment = 8;

/// Divides a range at the borders of pages, and calls `take` for each piece with the number of the page, the offset in
/// the page, the offset in the range, and the number of bytes.
template <typename Take>
void for_each_page(std::int64_t offset, std::size_t bytes, const Take& take) {
  for (std::size_t done = 0; done < bytes;) {
    const std::int64_t at = offset + static_cast<std::int64_t>(done);
    const auto within = static_cast<std::size_t>(at % kPageBytes);
    const std::size_t length = std::min(static_cast<std::size_t>(kPageBytes) - within, bytes - done);
    take(at / kPageBytes, within, done, length);
    done += length;
  }
}

}  // namespace

Overlay::Overlay(int file, std::int64_t free_offset) : file_(file), size_(0), free_offset_(free_offset) {
  struct stat info{};
  if (::fstat(file, &info) != 0) throw store::posix::system_error("inspect an HDF5 file", errno);
  size_ = info.st_size;
}

void Overlay::read_file(std::int64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count =
        ::pread(file_, into.data() + done, into.size() - done, offset + static_cast<std::int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw store::posix::system_error("read an HDF5 file", errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  std::ranges::fill(into.subspan(done), std::byte{0});
}

void Overlay::read(std::int64_t offset, std::span<std::byte> into) {
  // Fast path: most reads touch no changed page.
  const auto after = pages_.upper_bound((offset + static_cast<std::int64_t>(into.size())) / kPageBytes);
  if (pages_.lower_bound(offset / kPageBytes) == after) return read_file(offset, into);
  for_each_page(offset, into.size(), [&](std::int64_t page, std::size_t within, std::size_t done, std::size_t length) {
    const auto changed = pages_.find(page);
    if (changed == pages_.end())
      read_file(page * kPageBytes + static_cast<std::int64_t>(within), into.subspan(done, length));
    else
      std::memcpy(into.data() + done, changed->second.now.data() + within, length);
  });
}

Overlay::Page& Overlay::changed_page(std::int64_t number) {
  const auto [found, is_new] = pages_.try_emplace(number);
  if (is_new) {
    found->second.before.resize(static_cast<std::size_t>(kPageBytes));
    read_file(number * kPageBytes, found->second.before);
    found->second.now = found->second.before;
  }
  return found->second;
}

void Overlay::write(std::int64_t offset, std::span<const std::byte> bytes) {
  for_each_page(offset, bytes.size(), [&](std::int64_t page, std::size_t within, std::size_t done, std::size_t length) {
    std::memcpy(changed_page(page).now.data() + within, bytes.data() + done, length);
  });
}

void Overlay::direct_next_allocation(std::int64_t offset, std::int64_t bytes) {
  directed_offset_ = offset;
  directed_bytes_ = bytes;
  has_returned_directed_ = false;
}

std::int64_t Overlay::allocate(std::int64_t bytes, bool is_elements) {
  // The library accesses only bytes before the end, so that the end must be after the appended chunks.
  end_ = end();
  allocated_end_ = std::max(allocated_end_, end_);
  if (is_elements && !has_returned_directed_ && directed_offset_ >= 0 && bytes == directed_bytes_) {
    has_returned_directed_ = true;
    return directed_offset_;
  }
  const std::int64_t offset = (end_ + kAlignment - 1) / kAlignment * kAlignment;
  end_ = offset + bytes;
  allocated_end_ = std::max(allocated_end_, end_);
  return offset;
}

FilePatch Overlay::changes() const {
  // Use end() rather than end_: if the library enters no chunk it allocates nothing, but the file must not lose the
  // chunks that are appended already.
  FilePatch patch{size_, end(), {}};
  for (const auto& [number, page] : pages_) {
    const std::int64_t begin = number * kPageBytes;
    const std::int64_t bytes = std::min(kPageBytes, end() - begin);
    const auto differs = [&, &now = page.now, &before = page.before](std::int64_t i) {
      return begin + i >= size_ || now[static_cast<std::size_t>(i)] != before[static_cast<std::size_t>(i)];
    };
    for (std::int64_t at = 0; at < bytes; ++at) {
      const std::int64_t from = at;
      while (at < bytes && differs(at)) ++at;
      if (at > from)
        patch.bytes.push_back({begin + from,
                               {page.before.begin() + from, page.before.begin() + at},
                               {page.now.begin() + from, page.now.begin() + at}});
    }
  }
  return patch;
}

}  // namespace plait::container::hdf5
