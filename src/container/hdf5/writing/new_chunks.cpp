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

NewChunks::NewChunks(std::shared_ptr<store::Store> file, Dataset dataset, std::int64_t begin)
    : file_(std::move(file)),
      dataset_(std::move(dataset)),
      codecs_(chain_of(dataset_.filters, 0)),
      begin_(begin),
      chunk_bytes_(dataset_.chunk_bytes()),
      size_(chunk_bytes_),
      looked_(begin) {
  for (const std::int64_t chunks : dataset_.grid())
    size_ = base::checked_multiply(size_, chunks, "bytes of all chunks");
}

void NewChunks::share(std::unique_ptr<transport::Counter> counter, bool alone) {
  counter_ = std::move(counter);
  alone_ = alone;
}

std::string NewChunks::description() const { return text("HDF5, ", dataset_.kept()); }

void NewChunks::check(std::int64_t offset, std::int64_t bytes) const {
  if (offset >= 0 && offset <= size_ && bytes <= size_ - offset) return;
  throw Error(
      ErrorKind::kSystem,
      text("cannot access ", bytes, " bytes at offset ", offset, " of the chunks of ", name(), ", which have ", size_),
      EINVAL);
}

std::int64_t NewChunks::inside(std::int64_t number) const {
  std::int64_t bytes = dataset_.type.element_bytes;
  const Extents grid = dataset_.grid();
  for (std::size_t d = grid.size(); d-- > 0; number /= grid[d])
    bytes *= std::min(dataset_.chunk[d], dataset_.type.shape[d] - number % grid[d] * dataset_.chunk[d]);
  return bytes;
}

std::unique_ptr<store::Pending> NewChunks::submit_read(std::vector<ReadSegment> segments) {
  for (ReadSegment& segment : segments) check(segment.offset, segment.bytes);
  if (!packed()) {
    for (ReadSegment& segment : segments) segment.offset += begin_;
    return file_->submit_read(std::move(segments));
  }
  return std::make_unique<PendingCall>([this, segments = std::move(segments)] {
    const std::scoped_lock lock(mutex_);
    std::vector<std::byte> chunk(static_cast<std::size_t>(chunk_bytes_));
    for (const ReadSegment& segment : segments)
      for (std::int64_t done = 0; done < segment.bytes;) {
        const std::int64_t within = (segment.offset + done) % chunk_bytes_;
        const std::int64_t bytes = std::min(chunk_bytes_ - within, segment.bytes - done);
        const std::int64_t number = (segment.offset + done) / chunk_bytes_;
        const auto open = open_.find(number);
        if (open == open_.end()) read_old(number, chunk);
        const std::vector<std::byte>& from = open == open_.end() ? chunk : open->second.bytes;
        std::memcpy(segment.data + done, from.data() + within, static_cast<std::size_t>(bytes));
        done += bytes;
      }
  });
}

std::unique_ptr<store::Pending> NewChunks::submit_write(std::vector<WriteSegment> segments) {
  for (WriteSegment& segment : segments) check(segment.offset, segment.bytes);
  if (!packed()) {
    for (WriteSegment& segment : segments) segment.offset += begin_;
    return file_->submit_write(std::move(segments));
  }
  return std::make_unique<PendingCall>([this, segments = std::move(segments)] {
    std::vector<WriteSegment> parts;
    std::int64_t number = -1;
    const auto take = [&] {
      if (!parts.empty()) write_chunk(number, parts);
      parts.clear();
    };
    for (const WriteSegment& segment : segments)
      for (std::int64_t done = 0; done < segment.bytes;) {
        const std::int64_t within = (segment.offset + done) % chunk_bytes_;
        const std::int64_t bytes = std::min(chunk_bytes_ - within, segment.bytes - done);
        if (const std::int64_t its = (segment.offset + done) / chunk_bytes_; its != number) {
          take();
          number = its;
        }
        parts.push_back({within, segment.data + done, bytes});
        done += bytes;
      }
    take();
  });
}

void NewChunks::write_chunk(std::int64_t number, std::span<const WriteSegment> parts) {
  std::int64_t bytes = 0;
  for (const WriteSegment& part : parts) bytes += part.bytes;
  if (bytes != inside(number)) return add_to_open(number, parts);
  {
    const std::scoped_lock lock(mutex_);
    open_.erase(number);
  }
  Chunk made;
  if (bytes == chunk_bytes_ && parts.size() == 1) {
    made = append(number, {parts.front().data, static_cast<std::size_t>(bytes)});
  } else {
    static thread_local codec::Room room;
    const std::span<std::byte> chunk = room.of(static_cast<std::size_t>(chunk_bytes_));
    if (bytes < chunk_bytes_) std::ranges::fill(chunk, std::byte{0});
    for (const WriteSegment& part : parts)
      std::memcpy(chunk.data() + part.offset, part.data, static_cast<std::size_t>(part.bytes));
    made = append(number, chunk);
  }
  const std::scoped_lock lock(mutex_);
  if (alone_) written_.push_back(made);
}

Chunk NewChunks::append(std::int64_t number, std::span<const std::byte> chunk) {
  const std::span<const std::byte> packed = codecs_.encode(chunk);
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
    const std::size_t most = std::max(static_cast<std::size_t>(kMostOpenBytes / chunk_bytes_), kLeastOpen);
    while (open_.size() >= most) close(open_.begin());
    Open one;
    one.bytes.resize(static_cast<std::size_t>(chunk_bytes_));
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
  if (found == last_.end()) {
    std::ranges::fill(chunk, std::byte{0});
    return;
  }
  const Chunk& old = written_[found->second];
  std::vector<std::byte> packed(static_cast<std::size_t>(old.bytes));
  file_->read({{old.offset, packed.data(), old.bytes}});
  codecs_.decode(packed, chunk, text(chunk_words(dataset_, number), " of ", name()));
}

void NewChunks::finish(std::span<const std::byte> head) {
  settle();
  const std::scoped_lock lock(mutex_);
  std::int64_t end = begin_ + (packed() ? counter_->load() : size_);
  std::vector<Chunk> chunks;
  if (packed()) {
    look();
    if (!alone_ && looked_ != end)
      throw Error(ErrorKind::kSystem,
                  text("cannot finish ", name(), ": what should be a chunk at offset ", looked_,
                       " has not been written; write it again"),
                  EIO);
    // Of chunks that were written several times the last one.
    chunks = std::move(written_);
    std::ranges::stable_sort(chunks, {}, &Chunk::number);
    const auto same = [](const Chunk& one, const Chunk& other) { return one.number == other.number; };
    const auto kept = std::unique(chunks.rbegin(), chunks.rend(), same);
    chunks.erase(chunks.begin(), kept.base());
  } else {
    for (std::int64_t at = 0; at < size_; at += chunk_bytes_)
      chunks.push_back({at / chunk_bytes_, begin_ + at, chunk_bytes_, 0});
  }
  if (chunks.empty()) return;
  end += (8 - end % 8) % 8;
  const ChunkTree tree = make_tree(dataset_, chunks, end);
  std::vector<std::byte> root;
  std::vector<std::byte> length;
  append_number(root, static_cast<std::uint64_t>(tree.root), 8);
  append_number(length, static_cast<std::uint64_t>(end) + tree.nodes.size(), 8);
  file_->write({{end, tree.nodes.data(), static_cast<std::int64_t>(tree.nodes.size())},
                {tree_address_in(head, dataset_, name()), root.data(), 8},
                {length_in(head, name()), length.data(), 8}});
}

}  // namespace plait::container::hdf5
