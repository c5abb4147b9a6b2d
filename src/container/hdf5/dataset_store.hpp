/// The elements of a dataset as one store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "codec/chunk_cache.hpp"
#include "codec/codec.hpp"
#include "container/hdf5/dataset.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// A chunk after decompression.
struct DecodedChunk {
  std::int64_t number = -1;
  std::int64_t offset = 0;  ///< offset of the chunk in the file
  std::vector<std::byte> bytes;
};

/// The elements of a dataset as consecutive bytes. In a chunked dataset chunk i is at offset i * chunk_bytes(), and has
/// that many bytes even if the array ends within it. A chunk that is not allocated in the file reads as the fill value.
/// Elements without filters are read and written in place. Compressed chunks are decompressed as a whole; recently used
/// ones are cached, because a read often needs several pieces of one chunk.
///
/// Example: shape (4, 6), chunks (2, 3), elements of 8 bytes. Element (3, 4) is element (1, 1) of chunk (1, 1), which
/// is chunk 3 of 48 bytes: its offset in the store is 3 * 48 + (1 * 3 + 1) * 8 = 176.
class DatasetStore : public store::Store {
 public:
  /// file: the store of the whole file. name: the name of the file and of the dataset.
  DatasetStore(std::shared_ptr<store::Store> file, HdfDataset dataset, std::string name);

  const HdfDataset& dataset() const { return dataset_; }
  /// Returns the store of the whole file.
  store::Store& file() const { return *file_; }
  const std::string& name() const override { return name_; }
  std::string description() const override;
  std::int64_t size() override { return size_; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// errors  Those of check_writable().
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override { file_->sync(); }
  void resize_cache(std::int64_t bytes) override { cache_.resize(bytes); }

  /// Checks that the dataset can be changed in place.  errors  kArgument: it cannot.
  void check_writable() const;

  /// Reads a segment whose bytes in the file differ from those of the store, so that they are decoded or filled in.
  /// recent: the chunk that this batch has decompressed last. Each batch has its own, because several threads may read.
  /// errors  kSystem: a chunk is damaged or has another size; the message has its index and its offset in the file.
  void read_converted(const store::ReadSegment& segment, std::shared_ptr<const DecodedChunk>& recent);

 protected:
  /// errors  kSystem, EINVAL: the range exceeds the store.
  void check_range(std::int64_t offset, std::int64_t bytes) const;
  /// Returns a chunk if it is allocated in the file.
  virtual std::optional<Chunk> find_chunk(std::int64_t number) const;
  /// Reads and decodes a chunk.
  virtual void decode_chunk(const Chunk& chunk, std::span<std::byte> into) const;
  /// Checks the number of bytes that a chunk has in the file.
  /// errors  kSystem: it is larger than the elements can need.
  void check_encoded_bytes(const Chunk& chunk) const;
  /// Decodes a chunk whose bytes have been read.
  void decode_bytes(const Chunk& chunk, std::span<const std::byte> encoded, std::span<std::byte> into) const;
  /// Returns a chunk that is in the cache; nullptr if it is not.
  std::shared_ptr<const DecodedChunk> find_decoded(const Chunk& chunk);
  void cache_decoded(std::shared_ptr<const DecodedChunk> chunk) { cache_.insert(std::move(chunk)); }
  /// Returns true if the bytes of chunks in the file are those of the store.
  bool needs_no_conversion() const { return !dataset_.decodes_chunks() && dataset_.padded_texts.empty(); }
  /// Reads whole elements of a dataset without chunks, unconverted. offset: their offset in the store.
  virtual void read_whole(std::int64_t offset, std::span<std::byte> into) const;
  /// Fills a segment with the fill value. Its offset selects the byte of the fill value with which it begins.
  void fill(const store::ReadSegment& piece) const;
  const std::shared_ptr<store::Store>& shared_file() const { return file_; }
  /// Returns the description, which the caller may change.
  HdfDataset& mutable_dataset() { return dataset_; }
  std::int64_t chunk_bytes() const { return chunk_bytes_; }
  /// Throws if `rejection` states a reason why the dataset cannot be changed in place.  errors  kArgument.
  void check_changeable(const base::Rejection& rejection) const;

 private:
  /// Reads a segment of a dataset without chunks whose bytes in the file differ from those of the store.
  void read_elements(const store::ReadSegment& segment) const;
  /// Makes the codecs of a chunk; none for a chunk at an edge if filters do not apply to those.
  codec::Chain make_codecs(const Chunk& chunk) const;
  /// Reads a piece of a chunk that must be decoded or filled in. recent: as in read_converted().
  void read_chunk(std::int64_t number, const store::ReadSegment& piece, std::shared_ptr<const DecodedChunk>& recent);

  std::shared_ptr<store::Store> file_;
  HdfDataset dataset_;
  std::string name_;
  std::int64_t chunk_bytes_ = 0;
  std::int64_t size_ = 0;  ///< bytes of all elements, or of all chunks
  codec::ChunkCache<DecodedChunk> cache_;
};

}  // namespace plait::container::hdf5
