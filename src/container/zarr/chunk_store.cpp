#include "container/zarr/chunk_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "container/zarr/unpack.hpp"
#include "plait/error.hpp"
#include "store/posix/posix_store.hpp"

namespace plait::container::zarr {

namespace {

using store::ReadSegment;
using store::posix::PosixStore;

class PendingChunks : public store::Pending {
 public:
  PendingChunks(ChunkStore& store, std::vector<ReadSegment> segments) : store_(store), segments_(std::move(segments)) {}
  void complete() override {
    std::shared_ptr<const Unpacked> recent;
    for (const ReadSegment& segment : segments_) store_.read_segment(segment, recent);
  }

 private:
  ChunkStore& store_;
  std::vector<ReadSegment> segments_;
};

/// The file, or nothing where there is none.
std::unique_ptr<PosixStore> opened(const std::string& file) {
  try {
    return std::make_unique<PosixStore>(file, PosixStore::Access::kRead);
  } catch (const Error& error) {
    if (error.system_code() == ENOENT) return nullptr;
    throw;
  }
}

}  // namespace

ChunkStore::ChunkStore(std::string folder, Metadata metadata, std::string text)
    : folder_(std::move(folder)), metadata_(std::move(metadata)), text_(std::move(text)) {}

std::string ChunkStore::description() const {
  return base::text("Zarr, chunks of ", base::bytes_text(metadata_.chunk_bytes), ", ", words(metadata_.packing));
}

std::int64_t ChunkStore::size() {
  std::int64_t bytes = metadata_.chunk_bytes;  // which metadata has been found to fit
  for (const std::int64_t chunks : metadata_.grid) bytes *= chunks;
  return bytes;
}

std::unique_ptr<store::Pending> ChunkStore::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingChunks>(*this, std::move(segments));
}

std::unique_ptr<store::Pending> ChunkStore::submit_write(std::vector<store::WriteSegment> /*segments*/) {
  throw Error(ErrorKind::kArgument, base::text(name(), ": Zarr arrays are only read"));
}

std::string ChunkStore::file_of(std::int64_t number) const {
  const std::size_t count = metadata_.grid.size();
  std::vector<std::int64_t> index(count);
  for (std::size_t i = 0; i < count; ++i) {
    // The fastest dimension first.
    const std::size_t d = metadata_.type.order == Order::kC ? count - 1 - i : i;
    index[d] = number % metadata_.grid[d];
    number /= metadata_.grid[d];
  }
  std::string name = base::text(folder_, '/', metadata_.prefix);
  if (count == 0) return metadata_.prefix.empty() ? name + '0' : name.substr(0, name.size() - 1);
  for (std::size_t d = 0; d < count; ++d) {
    if (d > 0) name += metadata_.separator;
    base::append(name, index[d]);
  }
  return name;
}

void ChunkStore::fill(const ReadSegment& piece) const {
  const auto size = static_cast<std::int64_t>(metadata_.fill.size());
  for (std::int64_t i = 0; i < piece.bytes; ++i)
    piece.data[i] = metadata_.fill[static_cast<std::size_t>((piece.offset + i) % size)];
}

void ChunkStore::fill_missing(const ReadSegment& piece) const {
  struct stat found{};
  if (::stat(folder_.c_str(), &found) != 0)
    throw Error(ErrorKind::kSystem,
                base::text("cannot read ", name(), ": its folder ", folder_, " is no longer there; open it again"),
                errno);
  fill(piece);
}

void ChunkStore::read_stored(std::int64_t number, const ReadSegment& piece) const {
  const std::string file = file_of(number);
  const std::unique_ptr<PosixStore> chunk = opened(file);
  if (!chunk) return fill_missing(piece);
  if (const std::int64_t size = chunk->size(); size != metadata_.chunk_bytes)
    throw Error(ErrorKind::kSystem,
                base::text("cannot read the chunk ", file, ": it has ", size, " bytes, but a chunk has ",
                           metadata_.chunk_bytes, "; copy or download it again"),
                EIO);
  chunk->read({piece});
}

void ChunkStore::read_packed(std::int64_t number, const ReadSegment& piece, std::shared_ptr<const Unpacked>& recent) {
  if (!recent || recent->number != number) {
    const std::scoped_lock lock(mutex_);
    recent = last_;
  }
  if (!recent || recent->number != number) {
    const std::string file = file_of(number);
    const std::unique_ptr<PosixStore> chunk = opened(file);
    if (!chunk) return fill_missing(piece);
    const std::int64_t size = chunk->size();
    // Nothing that is worth packing grows by more.
    if (size > metadata_.chunk_bytes + metadata_.chunk_bytes / 8 + 4096)
      throw Error(ErrorKind::kSystem,
                  base::text("cannot read the chunk ", file, ": it has ", size, " bytes, more than what it holds, ",
                             metadata_.chunk_bytes, "; copy or download it again"),
                  EIO);
    std::vector<std::byte> packed(static_cast<std::size_t>(size));
    chunk->read({{0, packed.data(), size}});
    if (piece.bytes == metadata_.chunk_bytes)
      return unpack(metadata_.packing, packed, {piece.data, static_cast<std::size_t>(piece.bytes)}, file);
    auto made = std::make_shared<Unpacked>();
    made->number = number;
    made->bytes.resize(static_cast<std::size_t>(metadata_.chunk_bytes));
    unpack(metadata_.packing, packed, made->bytes, file);
    recent = std::move(made);
    const std::scoped_lock lock(mutex_);
    last_ = recent;
  }
  std::memcpy(piece.data, recent->bytes.data() + piece.offset, static_cast<std::size_t>(piece.bytes));
}

void ChunkStore::read_segment(const ReadSegment& segment, std::shared_ptr<const Unpacked>& recent) {
  const std::int64_t all = size();
  if (segment.offset < 0 || segment.offset > all || segment.bytes > all - segment.offset)
    throw Error(ErrorKind::kSystem,
                base::text("cannot read ", segment.bytes, " bytes at offset ", segment.offset, " of the chunks of ",
                           name(), ", which have ", all),
                EINVAL);
  for (std::int64_t done = 0; done < segment.bytes;) {
    const std::int64_t at = segment.offset + done;
    const std::int64_t within = at % metadata_.chunk_bytes;
    const std::int64_t bytes = std::min(segment.bytes - done, metadata_.chunk_bytes - within);
    const ReadSegment piece{within, segment.data + done, bytes};
    const std::int64_t number = at / metadata_.chunk_bytes;
    metadata_.packing == Packing::kNone ? read_stored(number, piece) : read_packed(number, piece, recent);
    done += bytes;
  }
}

}  // namespace plait::container::zarr
