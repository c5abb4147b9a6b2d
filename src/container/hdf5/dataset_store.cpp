// Reading a dataset by its description.
//
// Each piece of a read within one chunk takes one of three paths:
//    chunk without filters   read in one request to the file, together with the other pieces of this kind
//    chunk with filters      read and decoded as a whole, straight into the caller's memory if all of it is requested
//    no chunk in the file    filled with the fill value
//
// Chunks with missing records, and strings that are not padded with NUL, are converted in memory as well, because their
// bytes in the file differ from those of the store.

#include "container/hdf5/dataset_store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "codec/buffer.hpp"
#include "codec/damaged.hpp"
#include "container/array_type.hpp"
#include "container/chunks/chunk_pieces.hpp"
#include "container/hdf5/filters.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using store::ReadSegment;
using store::WriteSegment;

/// Describes a chunk for errors.
std::string describe(const Chunk& chunk, const DatasetStore& store) {
  return text(describe_chunk(store.dataset(), chunk.number), " of ", store.name(), " at offset ", chunk.offset);
}

/// A batch of pieces, some of which are read from the file as they are; complete() decodes or fills in the others.
class PendingPieces : public store::Pending {
 public:
  PendingPieces(DatasetStore& store, std::unique_ptr<store::Pending> plain, std::vector<ReadSegment> decoded)
      : store_(store), plain_(std::move(plain)), decoded_(std::move(decoded)) {}
  void complete() override {
    std::shared_ptr<const DecodedChunk> recent;
    for (const ReadSegment& segment : decoded_) store_.read_converted(segment, recent);
    if (plain_) plain_->complete();
  }

 private:
  DatasetStore& store_;
  std::unique_ptr<store::Pending> plain_;
  std::vector<ReadSegment> decoded_;
};

}  // namespace

DatasetStore::DatasetStore(std::shared_ptr<store::Store> file, HdfDataset dataset, std::string name)
    : file_(std::move(file)),
      dataset_(std::move(dataset)),
      name_(std::move(name)),
      cache_(dataset_.storage == Storage::kChunks ? dataset_.chunk_bytes() : 1) {
  if (dataset_.storage == Storage::kChunks) {
    chunk_bytes_ = size_ = dataset_.chunk_bytes();
    for (const std::int64_t chunks : dataset_.grid()) size_ *= chunks;  // cannot overflow: chunks_fit() was checked
  } else {
    size_ = array_bytes(dataset_.type.shape, dataset_.type.element_bytes).value_or(0);
  }
}

std::string DatasetStore::description() const { return text("HDF5, ", dataset_.describe_storage()); }

void DatasetStore::check_range(std::int64_t offset, std::int64_t bytes) const {
  if (offset >= 0 && offset <= size_ && bytes <= size_ - offset) return;
  base::throw_system_error(EINVAL, "cannot access ", bytes, " bytes at offset ", offset, " of ", name_, ", which has ",
                           size_);
}

std::optional<Chunk> DatasetStore::find_chunk(std::int64_t number) const {
  // If no chunk before it is missing, its index in the list equals its number, and no search is needed.
  const std::vector<Chunk>& chunks = dataset_.chunks;
  const auto index = static_cast<std::size_t>(number);
  if (index < chunks.size() && chunks[index].number == number) return chunks[index];
  const auto found = std::ranges::lower_bound(chunks, number, {}, &Chunk::number);
  return found != chunks.end() && found->number == number ? std::optional(*found) : std::nullopt;
}

std::unique_ptr<store::Pending> DatasetStore::submit_read(std::vector<ReadSegment> segments) {
  for (const ReadSegment& segment : segments) check_range(segment.offset, segment.bytes);
  const bool needs_padding = !dataset_.padded_texts.empty();
  if (dataset_.storage == Storage::kContiguous && !needs_padding) {
    for (ReadSegment& segment : segments) segment.offset += dataset_.offset;
    return file_->submit_read(std::move(segments));
  }
  std::vector<ReadSegment> plain;    // those that are read from the file as they are
  std::vector<ReadSegment> decoded;  // those that are decoded or filled in; see PendingPieces
  if (dataset_.storage == Storage::kChunks && !dataset_.decodes_chunks() && !needs_padding) {
    for (const ReadSegment& segment : segments)
      for_each_chunk(chunk_bytes_, segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t length) {
                       const std::optional<Chunk> chunk = find_chunk(number);
                       if (chunk && !dataset_.has_missing(number))
                         plain.push_back({chunk->offset + within, segment.data + done, length});
                       else
                         decoded.push_back({segment.offset + done, segment.data + done, length});
                     });
  } else {
    decoded = std::move(segments);
  }
  std::unique_ptr<store::Pending> pending = plain.empty() ? nullptr : file_->submit_read(std::move(plain));
  return std::make_unique<PendingPieces>(*this, std::move(pending), std::move(decoded));
}

void DatasetStore::check_writable() const {
  std::string why;
  if (dataset_.storage == Storage::kCompact) why = "it is stored in the description of the dataset (compact)";
  if (dataset_.storage == Storage::kNone && size_ > 0)
    why = "it has no place in the file yet, as nothing has been written";
  if (!dataset_.stored_shape.empty()) why = "it has fewer records in the file than its unlimited dimension";
  if (std::ranges::find(dataset_.padded_texts, TextPadding::kSpace, &TextField::padding) != dataset_.padded_texts.end())
    why = "its texts are padded with blanks";
  if (!dataset_.library_reason.empty()) why = text("HDF5's library reads its elements (", dataset_.library_reason, ')');
  check_changeable(base::Rejection(why));
}

void DatasetStore::check_changeable(const base::Rejection& rejection) const {
  if (rejection)
    base::throw_argument_error(name_, " cannot be changed in place: ", rejection.reason(),
                               "; copy it to a new file, or write it by h5py");
}

std::unique_ptr<store::Pending> DatasetStore::submit_write(std::vector<WriteSegment> segments) {
  check_writable();
  std::vector<WriteSegment> pieces;
  for (const WriteSegment& segment : segments) {
    check_range(segment.offset, segment.bytes);
    if (dataset_.storage == Storage::kContiguous)
      pieces.push_back({dataset_.offset + segment.offset, segment.data, segment.bytes});
    else
      for_each_chunk(chunk_bytes_, segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t length) {
                       pieces.push_back({find_chunk(number)->offset + within, segment.data + done, length});
                     });
  }
  return file_->submit_write(std::move(pieces));
}

void DatasetStore::read_converted(const ReadSegment& segment, std::shared_ptr<const DecodedChunk>& recent) {
  if (dataset_.storage == Storage::kCompact)
    return static_cast<void>(std::memcpy(segment.data, dataset_.compact_data.data() + segment.offset,
                                         static_cast<std::size_t>(segment.bytes)));
  if (dataset_.storage == Storage::kContiguous || dataset_.storage == Storage::kLibrary) return read_elements(segment);
  if (dataset_.storage != Storage::kChunks) return fill(segment);
  // Consecutive segments often belong to one chunk.
  const std::int64_t in_recent = recent ? segment.offset - recent->number * chunk_bytes_ : -1;
  if (in_recent >= 0 && in_recent + segment.bytes <= chunk_bytes_)
    return static_cast<void>(
        std::memcpy(segment.data, recent->bytes.data() + in_recent, static_cast<std::size_t>(segment.bytes)));
  for_each_chunk(chunk_bytes_, segment.offset, segment.bytes,
                 [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t length) {
                   read_chunk(number, {within, segment.data + done, length}, recent);
                 });
}

void DatasetStore::read_elements(const ReadSegment& segment) const {
  const std::int64_t element_bytes = dataset_.type.element_bytes;
  const std::int64_t within_element = segment.offset % element_bytes;
  const std::int64_t bytes = (within_element + segment.bytes + element_bytes - 1) / element_bytes * element_bytes;
  // Segments that begin or end within an element are read into memory of whole elements.
  const bool has_whole_elements = bytes == segment.bytes;
  std::vector<std::byte> buffer(has_whole_elements ? 0 : static_cast<std::size_t>(bytes));
  std::byte* const data = has_whole_elements ? segment.data : buffer.data();
  const std::span<std::byte> whole(data, static_cast<std::size_t>(bytes));
  read_whole(segment.offset - within_element, whole);
  dataset_.pad_with_null(whole);
  if (!has_whole_elements) std::memcpy(segment.data, data + within_element, static_cast<std::size_t>(segment.bytes));
}

void DatasetStore::read_whole(std::int64_t offset, std::span<std::byte> into) const {
  file_->read({{dataset_.offset + offset, into.data(), static_cast<std::int64_t>(into.size())}});
}

void DatasetStore::fill(const ReadSegment& piece) const {
  const auto size = static_cast<std::int64_t>(dataset_.fill.size());
  for (std::int64_t i = 0; i < piece.bytes; ++i)
    piece.data[i] = dataset_.fill[static_cast<std::size_t>((piece.offset + i) % size)];
}

codec::Chain DatasetStore::make_codecs(const Chunk& chunk) const {
  if (!dataset_.filters_edge_chunks) {
    std::int64_t number = chunk.number;
    const Extents grid = dataset_.grid();
    for (std::size_t d = grid.size(); d-- > 0; number /= grid[d])
      if ((number % grid[d] + 1) * dataset_.chunk[d] > dataset_.type.shape[d]) return {};
  }
  return make_chain(dataset_.filters, chunk.filter_mask);
}

void DatasetStore::check_encoded_bytes(const Chunk& chunk) const {
  // No codec enlarges data by more than an eighth and 4 KiB. A larger size means a damaged index; do not allocate
  // memory for it.
  if (chunk.bytes > chunk_bytes_ + chunk_bytes_ / 8 + 4096)
    codec::throw_damaged(describe(chunk, *this), "it has ", chunk.bytes, " bytes, more than what it holds, ",
                         chunk_bytes_);
}

void DatasetStore::decode_bytes(const Chunk& chunk, std::span<const std::byte> encoded,
                                std::span<std::byte> into) const {
  make_codecs(chunk).decode(encoded, into, describe(chunk, *this));
  dataset_.pad_with_null(into);
}

void DatasetStore::decode_chunk(const Chunk& chunk, std::span<std::byte> into) const {
  check_encoded_bytes(chunk);
  static thread_local codec::Buffer buffer;
  const std::span<std::byte> encoded = buffer.acquire(static_cast<std::size_t>(chunk.bytes));
  file_->read({{chunk.offset, encoded.data(), chunk.bytes}});
  decode_bytes(chunk, encoded, into);
}

std::shared_ptr<const DecodedChunk> DatasetStore::find_decoded(const Chunk& chunk) {
  std::shared_ptr<const DecodedChunk> found = cache_.find(chunk.number);
  return found && found->offset == chunk.offset ? found : nullptr;
}

void DatasetStore::read_chunk(std::int64_t number, const ReadSegment& piece,
                              std::shared_ptr<const DecodedChunk>& recent) {
  const std::optional<Chunk> chunk = find_chunk(number);
  const bool has_missing = dataset_.has_missing(number);
  if (!chunk && !has_missing) return fill(piece);
  const std::int64_t offset = chunk ? chunk->offset : -1;  // a chunk that has been rewritten has another offset
  const auto decode_into = [&](std::span<std::byte> into) {
    if (chunk)
      decode_chunk(*chunk, into);
    else
      fill({0, into.data(), static_cast<std::int64_t>(into.size())});
    if (has_missing) dataset_.fill_missing(number, into);
  };
  const auto is_recent = [&] { return recent && recent->number == number && recent->offset == offset; };
  if (!is_recent()) recent = cache_.find(number);
  if (!is_recent()) {
    if (piece.bytes == chunk_bytes_) return decode_into({piece.data, static_cast<std::size_t>(piece.bytes)});
    auto decoded = std::make_shared<DecodedChunk>();
    decoded->number = number;
    decoded->offset = offset;
    decoded->bytes.resize(static_cast<std::size_t>(chunk_bytes_));
    decode_into(decoded->bytes);
    recent = std::move(decoded);
    // Do not cache chunks that are written in place: writes do not update the cache.
    if (dataset_.decodes_chunks() || has_missing) cache_.insert(recent);
  }
  std::memcpy(piece.data, recent->bytes.data() + piece.offset, static_cast<std::size_t>(piece.bytes));
}

}  // namespace plait::container::hdf5
