// Reading metadata by few requests.
//
// Problem: the HDF5 library reads metadata in pieces of 8 to 4,096 bytes, one after another, and a request takes 20 to
// 100 ms.
//
// Idea: a request reads a block of 64 KiB. If it begins where the previous request ended, it reads twice as many blocks
// as that one, up to 1 MiB, because object headers mostly follow each other. Ranges that are known in advance, such as
// the nodes of a tree, are read exactly, by concurrent requests (prefetch()).
//
// Example: the descriptions of 500 variables are in the first 900 KB of a file. The request that opened the object has
// returned block 0. The next requests read blocks 1 to 2, 3 to 6, and 7 to 14: four requests in all.

#include "container/hdf5/ranges/block_cache.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "store/pending_call.hpp"

namespace plait::container::hdf5 {

const std::byte* BlockCache::find_range(std::int64_t offset, std::int64_t bytes) const {
  auto found = ranges_.upper_bound(offset);
  if (found == ranges_.begin()) return nullptr;
  --found;
  const std::int64_t within = offset - found->first;
  return within + bytes <= std::ssize(found->second) ? found->second.data() + within : nullptr;
}

bool BlockCache::has_blocks(std::int64_t offset, std::int64_t bytes) const {
  for (std::int64_t number = offset / kBlockBytes; number * kBlockBytes < offset + bytes; ++number)
    if (!positions_.contains(number)) return false;
  return true;
}

void BlockCache::read_blocks(store::Store& file, std::int64_t first, std::int64_t count) {
  const std::int64_t begin = first * kBlockBytes;
  Bytes bytes(static_cast<std::size_t>(std::min(count * kBlockBytes, file.size() - begin)));
  file.read({{begin, bytes.data(), std::ssize(bytes)}});
  // Insert the last block first, so that the first one, which is needed now, is the most recently used.
  for (std::int64_t i = count; i-- > 0;) {
    const std::int64_t from = i * kBlockBytes;
    const std::int64_t to = std::min(from + kBlockBytes, std::ssize(bytes));
    if (from >= to || positions_.contains(first + i)) continue;
    if (std::ssize(blocks_) >= kMaxBytes / kBlockBytes) {
      positions_.erase(blocks_.back().number);
      blocks_.pop_back();
    }
    blocks_.emplace(blocks_.begin(), Block{first + i, Bytes(bytes.begin() + from, bytes.begin() + to)});
    positions_[first + i] = blocks_.begin();
  }
}

const BlockCache::Bytes& BlockCache::find_or_read_block(store::Store& file, std::int64_t number) {
  auto found = positions_.find(number);
  if (found == positions_.end()) {
    const bool continues_last = number == next_block_ && number > 0;
    blocks_at_once_ = continues_last ? std::min(2 * blocks_at_once_, kMaxAhead / kBlockBytes) : 1;
    std::int64_t count = 1;
    while (count < blocks_at_once_ && !positions_.contains(number + count)) ++count;
    read_blocks(file, number, count);
    next_block_ = number + count;
    found = positions_.find(number);
  }
  blocks_.splice(blocks_.begin(), blocks_, found->second);  // it is the most recently used one
  return blocks_.front().bytes;
}

void BlockCache::read(store::Store& file, std::int64_t offset, std::span<std::byte> into) {
  const std::int64_t bytes = std::ssize(into);
  constexpr std::int64_t kMaxCachedRead = kMaxAhead / 4;
  const bool is_inside = offset >= 0 && bytes <= file.size() - offset;
  // Pass on long reads, which are elements that the library reads once, and ranges outside the file, which the store
  // reports as errors.
  if (!is_inside || bytes > kMaxCachedRead) return file.read({{offset, into.data(), bytes}});
  if (const std::byte* const range = find_range(offset, bytes); range != nullptr) {
    std::copy_n(range, bytes, into.data());
    return;
  }
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t within = (offset + done) % kBlockBytes;
    const std::int64_t length = std::min(kBlockBytes - within, bytes - done);
    std::copy_n(find_or_read_block(file, (offset + done) / kBlockBytes).begin() + within, length, into.begin() + done);
    done += length;
  }
}

void BlockCache::prefetch(store::Store& file, std::span<const FileRange> ranges) {
  std::map<std::int64_t, Bytes> fetched;
  std::vector<store::ReadSegment> segments;
  for (const FileRange& range : ranges) {
    const std::int64_t available = range.offset < 0 ? 0 : file.size() - range.offset;
    const bool is_known = available <= 0 || fetched.contains(range.offset) || ranges_.contains(range.offset) ||
                          has_blocks(range.offset, range.bytes);
    if (is_known || range.bytes <= 0 || range.bytes > available || range.bytes > kMaxRanges - range_bytes_) continue;
    range_bytes_ += range.bytes;
    Bytes& bytes = fetched[range.offset];
    bytes.resize(static_cast<std::size_t>(range.bytes));
    segments.push_back({range.offset, bytes.data(), range.bytes});
  }
  if (segments.empty()) return;
  file.read(std::move(segments));
  ranges_.merge(fetched);
}

void BlockCache::drop_ranges() {
  ranges_.clear();
  range_bytes_ = 0;
}

std::unique_ptr<store::Pending> CachedStore::submit_read(std::vector<store::ReadSegment> segments) {
  return std::make_unique<store::PendingCall>([this, segments = std::move(segments)] {
    for (const store::ReadSegment& segment : segments)
      cache_.read(file_, segment.offset, {segment.data, static_cast<std::size_t>(segment.bytes)});
  });
}

}  // namespace plait::container::hdf5
