/// The chunks of an array as one store, in the order of plan/section/chunks.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codec/chunk_cache.hpp"
#include "container/dataset.hpp"
#include "container/zarr/chunks/chunk_objects.hpp"
#include "container/zarr/chunks/chunk_writer.hpp"
#include "container/zarr/metadata.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// A decompressed chunk, for the cache.
struct DecodedChunk {
  std::int64_t number = -1;
  store::ObjectIdentity identity;  ///< identity of the object from which it was read
  std::unique_ptr<std::byte[]> bytes;
};

/// The chunks of an array as consecutive bytes, each with the size of a whole chunk. If no object holds a chunk, it
/// reads as the fill value. Chunks without codecs are read and written in place. Other chunks are decompressed as a
/// whole, and the most recent ones are cached for reads that need several pieces of them. A write of a part of such a
/// chunk reads the rest first.
class ChunkStore : public store::Store {
 public:
  /// objects: the objects of the array. text: its metadata, for other ranks. is_new: see ChunkObjects.
  ChunkStore(std::shared_ptr<store::ObjectStore> objects, Metadata metadata, std::string text, bool is_new);

  /// Returns a store of the same array with another shape, with a cache of the same size.  pre  flush() was called
  /// after the last write.
  std::shared_ptr<ChunkStore> with_shape(const Extents& shape) const;
  const Metadata& metadata() const { return metadata_; }
  const std::string& text() const { return text_; }
  store::ObjectStore& objects() const { return *objects_; }
  bool is_new() const { return chunks_.is_new(); }
  const std::string& name() const override { return objects().name(); }
  std::string description() const override;
  std::int64_t size() override;
  bool grows() const override { return false; }
  /// Reads segments when the batch is completed.
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// Writes segments when the batch is completed. Consecutive segments of one chunk are written together: the chunk is
  /// read, compressed and written once.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void flush() override;
  void discard_buffered() noexcept override;
  void sync() override { objects().sync(); }
  void resize_cache(std::int64_t bytes) override { cache_.resize(bytes); }

  /// Reads a batch: each chunk once for consecutive segments, and many chunks at once if the object store supports
  /// that.
  /// errors  kSystem: a segment is outside the store; a chunk is damaged or has another size, with the name of its
  ///         object.
  void read_segments(std::span<const store::ReadSegment> segments);
  /// Writes parts of a chunk; offsets are relative to the chunk.  errors  Those of read_segments().
  void write_chunk(std::int64_t number, const std::vector<store::WriteSegment>& parts);

  /// Checks that a range is in the store.  errors  kSystem: it is not.
  void check(const char* what, std::int64_t offset, std::int64_t bytes);
  /// Returns the bytes of a chunk that are inside the array.
  std::int64_t bytes_inside(std::int64_t number) const;
  /// Fills `chunk` with the former chunk, of which a write that covers only `covered` bytes retains elements. Returns
  /// the condition for ChunkObjects::put().
  store::Condition read_former(std::int64_t number, std::int64_t covered, std::span<std::byte> chunk);
  /// Gives bytes that begin at an offset of a chunk the fill value.
  void fill(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Returns the texts of the array; nullptr if its elements have a fixed size.
  virtual TextAccess* texts() { return nullptr; }

 protected:
  ChunkObjects& chunks() { return chunks_; }

 private:
  /// Consecutive pieces of a batch in one chunk; offsets are relative to the chunk.
  struct PiecesOfChunk {
    std::int64_t number = 0;
    std::vector<store::ReadSegment> pieces;
    bool is_whole(std::int64_t chunk_bytes) const { return pieces.size() == 1 && pieces[0].bytes == chunk_bytes; }
  };
  /// Reads chunks without codecs: only the requested bytes.
  void read_plain(std::span<const PiecesOfChunk> chunks);
  /// Reads chunks with codecs, each as a whole.
  void read_encoded(std::span<const PiecesOfChunk> chunks);
  /// Decompresses a chunk of which a part is read, or uses the cached one if it is still the same, and copies the
  /// pieces.
  void copy_pieces(const PiecesOfChunk& chunk, const ChunkResult& found, std::span<const std::byte> encoded,
                   std::shared_ptr<const DecodedChunk> cached);
  void fill_pieces(const PiecesOfChunk& chunk) const;
  /// Checks the compressed size of a chunk.  errors  kSystem: it is larger than the elements can need.
  void check_encoded_bytes(std::int64_t number, std::int64_t bytes) const;
  void decode_chunk(std::int64_t number, std::span<const std::byte> encoded, std::span<std::byte> chunk) const;
  Metadata metadata_;
  std::shared_ptr<store::ObjectStore> objects_;
  ChunkObjects chunks_;
  ChunkWriter writer_;
  std::string text_;
  codec::ChunkCache<DecodedChunk> cache_;
};

}  // namespace plait::container::zarr
