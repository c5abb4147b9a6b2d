#include "container/hdf5/writing/new_chunks.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "codec/room.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/writing/chunk_tree.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using store::ReadSegment;
using store::WriteSegment;

/// In front of each packed chunk: these bytes, its number, how many bytes follow.
constexpr std::uint64_t kMark = 0x6b6e7568432e744cULL;
constexpr std::int64_t kFrontBytes = 24;
/// What is written in parts is kept until it is whole, but not more than this at once.
constexpr std::int64_t kMostOpenBytes = std::int64_t{16} << 20;
constexpr std::size_t kLeastOpen = 2;

class PendingCall : public store::Pending {
 public:
  explicit PendingCall(std::function<void()> call) : call_(std::move(call)) {}
  void complete() override { call_(); }

 private:
  std::function<void()> call_;
};

std::uint64_t number_in(std::span<const std::byte> front, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::to_integer<std::uint64_t>(front[at + i]) << (8 * i);
  return value;
}

}  // namespace

/// Calls `take` with the number of the chunk, the place in it, that in the segment, and the length of each piece.
template <typename Take>
void NewChunks::for_each_piece(std::int64_t offset, std::int64_t bytes, const Take& take) const {
  const Part& part = *part_at(offset);
  for (std::int64_t done = 0; done < bytes;) {
    const std::int64_t at = offset + done - part.begin;
    const std::int64_t within = at % part.chunk_bytes;
    const std::int64_t length = std::min(part.chunk_bytes - within, bytes - done);
    take(part.first + at / part.chunk_bytes, within, done, length);
    done += length;
  }
}

NewChunks::NewChunks(std::shared_ptr<store::Store> file, std::vector<NewDataset> datasets, std::int64_t begin)
    : file_(std::move(file)), begin_(begin), size_(begin), looked_(begin) {
  std::int64_t first = 0;
  for (NewDataset& one : datasets) {
    Part& part = parts_.emplace_back();
    part.told_at = one.told_at;
    part.begin = one.begin;
    part.codecs = chain_of(one.dataset.filters, 0);
    part.chunk_bytes = part.bytes = one.dataset.chunk_bytes();
    part.first = first;
    std::int64_t chunks = 1;
    for (const std::int64_t count : one.dataset.grid()) {
      chunks = base::checked_multiply(chunks, count, "chunks of the array");
      part.bytes = base::checked_multiply(part.bytes, count, "bytes of all chunks");
    }
    first = base::checked_add(first, chunks, "chunks of the file");
    part.dataset = std::move(one.dataset);
    size_ = std::max(size_, base::checked_add(part.begin, part.bytes, "bytes of all chunks"));
  }
}

void NewChunks::share(std::unique_ptr<transport::Counter> counter, bool alone) {
  counter_ = std::move(counter);
  alone_ = alone;
}

std::string NewChunks::description() const {
  return text("HDF5, ", parts_.size() == 1 ? parts_.front().dataset.kept() : text(parts_.size(), " arrays in chunks"));
}

const NewChunks::Part* NewChunks::part_at(std::int64_t offset) const {
  if (offset < begin_) return nullptr;  // it lies in the file as it is
  const auto behind = std::ranges::upper_bound(parts_, offset, {}, &Part::begin);
  return behind == parts_.begin() ? nullptr : &*std::prev(behind);
}

const NewChunks::Part& NewChunks::part_of(std::int64_t number) const {
  return *std::prev(std::ranges::upper_bound(parts_, number, {}, &Part::first));
}

void NewChunks::check(std::int64_t offset, std::int64_t bytes) const {
  if (offset >= 0 && offset <= size_ && bytes <= size_ - offset) return;
  throw Error(
      ErrorKind::kSystem,
      text("cannot access ", bytes, " bytes at offset ", offset, " of the chunks of ", name(), ", which have ", size_),
      EINVAL);
}

std::int64_t NewChunks::inside(std::int64_t number) const {
  const Part& part = part_of(number);
  const Dataset& dataset = part.dataset;
  std::int64_t bytes = dataset.type.element_bytes;
  const Extents grid = dataset.grid();
  number -= part.first;
  for (std::size_t d = grid.size(); d-- > 0; number /= grid[d])
    bytes *= std::min(dataset.chunk[d], dataset.type.shape[d] - number % grid[d] * dataset.chunk[d]);
  return bytes;
}

std::unique_ptr<store::Pending> NewChunks::submit_read(std::vector<ReadSegment> segments) {
  std::vector<ReadSegment> plain;
  std::vector<ReadSegment> chunked;
  for (const ReadSegment& segment : segments) {
    check(segment.offset, segment.bytes);
    (part_at(segment.offset) == nullptr ? plain : chunked).push_back(segment);
  }
  if (chunked.empty()) return file_->submit_read(std::move(plain));
  return std::make_unique<PendingCall>([this, plain = std::move(plain), chunked = std::move(chunked)] {
    if (!plain.empty()) file_->read(plain);
    const std::scoped_lock lock(mutex_);
    std::vector<std::byte> chunk;
    for (const ReadSegment& segment : chunked)
      for_each_piece(segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                       const auto open = open_.find(number);
                       if (open == open_.end()) {
                         chunk.resize(static_cast<std::size_t>(part_of(number).chunk_bytes));
                         read_old(number, chunk);
                       }
                       const std::vector<std::byte>& from = open == open_.end() ? chunk : open->second.bytes;
                       std::memcpy(segment.data + done, from.data() + within, static_cast<std::size_t>(bytes));
                     });
  });
}

std::unique_ptr<store::Pending> NewChunks::submit_write(std::vector<WriteSegment> segments) {
  std::vector<WriteSegment> plain;
  std::vector<WriteSegment> chunked;
  for (const WriteSegment& segment : segments) {
    check(segment.offset, segment.bytes);
    (part_at(segment.offset) == nullptr ? plain : chunked).push_back(segment);
  }
  if (chunked.empty()) return file_->submit_write(std::move(plain));
  return std::make_unique<PendingCall>([this, plain = std::move(plain), chunked = std::move(chunked)] {
    if (!plain.empty()) file_->write(plain);
    std::vector<WriteSegment> parts;
    std::int64_t last = -1;
    const auto take = [&] {
      if (!parts.empty()) write_chunk(last, parts);
      parts.clear();
    };
    for (const WriteSegment& segment : chunked)
      for_each_piece(segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                       if (number != last) {
                         take();
                         last = number;
                       }
                       parts.push_back({within, segment.data + done, bytes});
                     });
    take();
  });
}

void NewChunks::write_chunk(std::int64_t number, std::span<const WriteSegment> parts) {
  std::int64_t bytes = 0;
  for (const WriteSegment& part : parts) bytes += part.bytes;
  if (bytes != inside(number)) return add_to_open(number, parts);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto open = open_.find(number); open != open_.end()) drop(open);
  }
  const Part& part = part_of(number);
  Chunk made;
  if (bytes == part.chunk_bytes && parts.size() == 1) {
    made = append(number, {parts.front().data, static_cast<std::size_t>(bytes)});
  } else {
    static thread_local codec::Room room;
    const std::span<std::byte> chunk = room.of(static_cast<std::size_t>(part.chunk_bytes));
    if (bytes < part.chunk_bytes) fill(part, chunk);
    for (const WriteSegment& one : parts)
      std::memcpy(chunk.data() + one.offset, one.data, static_cast<std::size_t>(one.bytes));
    made = append(number, chunk);
  }
  const std::scoped_lock lock(mutex_);
  if (alone_) written_.push_back(made);
}

void NewChunks::fill(const Part& part, std::span<std::byte> chunk) {
  const std::vector<std::byte>& one = part.dataset.fill;
  if (one.empty()) return static_cast<void>(std::ranges::fill(chunk, std::byte{0}));
  for (std::size_t at = 0; at < chunk.size(); ++at) chunk[at] = one[at % one.size()];
}

Chunk NewChunks::append(std::int64_t number, std::span<const std::byte> chunk) {
  const std::span<const std::byte> packed = part_of(number).codecs.encode(chunk);
  const auto bytes = static_cast<std::int64_t>(packed.size());
  const std::int64_t at = begin_ + counter_->fetch_add(kFrontBytes + bytes);
  std::vector<std::byte> front;
  for (const std::uint64_t value : {kMark, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(bytes)})
    append_number(front, value, 8);
  file_->write({{at, front.data(), kFrontBytes}, {at + kFrontBytes, packed.data(), bytes}});
  return {number, at + kFrontBytes, bytes, 0};
}

void NewChunks::add_to_open(std::int64_t number, std::span<const WriteSegment> parts) {
  const std::scoped_lock lock(mutex_);
  auto found = open_.find(number);
  if (found == open_.end()) {
    const std::int64_t bytes = part_of(number).chunk_bytes;
    while (open_.size() >= kLeastOpen && open_bytes_ + bytes > kMostOpenBytes) close(open_.begin());
    Open one;
    one.bytes.resize(static_cast<std::size_t>(bytes));
    open_bytes_ += bytes;
    read_old(number, one.bytes);
    found = open_.emplace(number, std::move(one)).first;
  }
  for (const WriteSegment& part : parts) {
    std::memcpy(found->second.bytes.data() + part.offset, part.data, static_cast<std::size_t>(part.bytes));
    found->second.written += part.bytes;
  }
  if (found->second.written >= inside(number)) close(found);
}

void NewChunks::close(std::map<std::int64_t, Open>::iterator one) {
  const Chunk made = append(one->first, one->second.bytes);
  if (alone_) written_.push_back(made);
  drop(one);
}

void NewChunks::drop(std::map<std::int64_t, Open>::iterator one) {
  open_bytes_ -= static_cast<std::int64_t>(one->second.bytes.size());
  open_.erase(one);
}

void NewChunks::settle() {
  const std::scoped_lock lock(mutex_);
  while (!open_.empty()) close(open_.begin());
}

void NewChunks::look() {
  if (alone_) return;
  const std::int64_t end = begin_ + counter_->load();
  std::array<std::byte, kFrontBytes> front{};
  while (looked_ + kFrontBytes <= end) {
    // What others have room for and have not written yet is no chunk of this rank's.
    if (file_->size() < looked_ + kFrontBytes) return;
    file_->read({{looked_, front.data(), kFrontBytes}});
    if (number_in(front, 0) != kMark) return;
    const auto bytes = static_cast<std::int64_t>(number_in(front, 16));
    if (bytes <= 0 || bytes > end - looked_ - kFrontBytes) return;  // half written
    written_.push_back({static_cast<std::int64_t>(number_in(front, 8)), looked_ + kFrontBytes, bytes, 0});
    looked_ += kFrontBytes + bytes;
  }
}

void NewChunks::read_old(std::int64_t number, std::span<std::byte> chunk) {
  look();
  for (; listed_ < written_.size(); ++listed_) last_[written_[listed_].number] = listed_;
  const auto found = last_.find(number);
  const Part& part = part_of(number);
  if (found == last_.end()) return fill(part, chunk);
  const Chunk& old = written_[found->second];
  std::vector<std::byte> packed(static_cast<std::size_t>(old.bytes));
  file_->read({{old.offset, packed.data(), old.bytes}});
  part.codecs.decode(packed, chunk, text(chunk_words(part.dataset, number - part.first), " of ", name()));
}

std::vector<Chunk> NewChunks::all_written() {
  look();
  const std::int64_t end = begin_ + counter_->load();
  if (!alone_ && looked_ != end)
    throw Error(ErrorKind::kSystem,
                text("cannot finish ", name(), ": what should be a chunk at offset ", looked_,
                     " has not been written; write it again"),
                EIO);
  // Of chunks that were written several times the last one.
  std::vector<Chunk> chunks = std::move(written_);
  std::ranges::stable_sort(chunks, {}, &Chunk::number);
  const auto same = [](const Chunk& one, const Chunk& other) { return one.number == other.number; };
  const auto kept = std::unique(chunks.rbegin(), chunks.rend(), same);
  chunks.erase(chunks.begin(), kept.base());
  return chunks;
}

void NewChunks::finish(std::int64_t length_told_at) {
  settle();
  const std::scoped_lock lock(mutex_);
  const bool packs = std::ranges::any_of(parts_, [&](const Part& part) { return part.begin >= begin_; });
  std::vector<Chunk> written = packs ? all_written() : std::vector<Chunk>();
  std::int64_t end = begin_ + (packs ? counter_->load() : 0);
  std::vector<std::byte> length;
  for (const Part& part : parts_) {
    std::vector<Chunk> chunks;
    if (part.begin < begin_) {
      for (std::int64_t at = 0; at < part.bytes; at += part.chunk_bytes)
        chunks.push_back({at / part.chunk_bytes, part.begin + at, part.chunk_bytes, 0});
    } else {
      const std::int64_t behind = part.first + part.bytes / part.chunk_bytes;
      const auto from = std::ranges::lower_bound(written, part.first, {}, &Chunk::number);
      const auto to = std::ranges::lower_bound(written, behind, {}, &Chunk::number);
      chunks.assign(from, to);
      for (Chunk& one : chunks) one.number -= part.first;
    }
    if (chunks.empty()) continue;
    end += (8 - end % 8) % 8;
    const ChunkTree tree = make_tree(part.dataset, chunks, end);
    std::vector<std::byte> root;
    append_number(root, static_cast<std::uint64_t>(tree.root), 8);
    file_->write(
        {{end, tree.nodes.data(), static_cast<std::int64_t>(tree.nodes.size())}, {part.told_at, root.data(), 8}});
    end += static_cast<std::int64_t>(tree.nodes.size());
  }
  append_number(length, static_cast<std::uint64_t>(end), 8);
  file_->write({{length_told_at, length.data(), 8}});
}

}  // namespace plait::container::hdf5
