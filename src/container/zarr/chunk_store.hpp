/// The chunks of an array as one store, in the order of plan/section/chunks.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "container/zarr/chunks/chunk_objects.hpp"
#include "container/zarr/metadata.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// A chunk as it was before it was packed.
struct Unpacked {
  std::int64_t number = -1;
  store::ObjectIdentity identity;  ///< of the object that it was read from
  std::unique_ptr<std::byte[]> bytes;
};

/// Each chunk takes the space of a whole one; what no file holds has the value that the metadata gives it.  Chunks that
/// are not packed are read and written where their elements are stored; the others are unpacked whole, and the last one
/// is cached for reads that need several pieces of it.  Of a chunk that is written in part, the rest is read first.
class ChunkStore : public store::Store {
 public:
  /// objects: of the array.  text: its metadata, for other ranks.  fresh: as for ChunkObjects.
  ChunkStore(std::shared_ptr<store::ObjectStore> objects, Metadata metadata, std::string text, bool fresh);

  const Metadata& metadata() const { return metadata_; }
  const std::string& text() const { return text_; }
  store::ObjectStore& objects() const { return chunks_.objects(); }
  const std::string& name() const override { return objects().name(); }
  std::string description() const override;
  std::int64_t size() override;
  bool grows() const override { return false; }
  /// Carried out when the batch is completed.
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// The same.  Segments of one chunk that follow each other are written together: a chunk is read, packed and written
  /// once for all of them.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void flush() override;
  void forget() noexcept override { chunks_.discard(); }
  void sync() override { objects().sync(); }

  /// Reads a batch: each chunk once for segments that follow each other, and many chunks at once if the objects can.
  /// errors  kSystem: not inside; a chunk that is damaged or of another size, by the name of its file.
  void read_segments(std::span<const store::ReadSegment> segments);
  /// Offsets in the chunk.  errors  The same.
  void write_chunk(std::int64_t number, const std::vector<store::WriteSegment>& parts);

  /// errors  kSystem: it does not lie in the store.
  void check(const char* what, std::int64_t offset, std::int64_t bytes);

 private:
  /// The pieces of a batch that follow each other in one chunk, by their offsets in it.
  struct PiecesOfChunk {
    std::int64_t number = 0;
    std::vector<store::ReadSegment> pieces;
    bool whole(std::int64_t chunk_bytes) const { return pieces.size() == 1 && pieces[0].bytes == chunk_bytes; }
  };
  void read_plain(std::span<const PiecesOfChunk> chunks);
  void read_packed(std::span<const PiecesOfChunk> chunks);
  /// Unpacks a chunk that was read in part, or takes `last` if it is still the same, and copies the pieces.
  void copy_pieces(const PiecesOfChunk& chunk, const ChunkResult& found, std::span<const std::byte> packed,
                   std::shared_ptr<const Unpacked> last);
  void fill_pieces(const PiecesOfChunk& chunk) const;
  /// errors  kSystem: a chunk with more packed bytes than its elements can take.
  void check_packed(std::int64_t number, std::int64_t bytes) const;
  void unpack(std::int64_t number, std::span<const std::byte> packed, std::span<std::byte> chunk) const;
  /// Reads the elements that a partly written chunk retains.  Returns the condition for put().
  store::Condition read_former(std::int64_t number, std::int64_t given, std::span<std::byte> chunk);
  void fill(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Bytes of a chunk that lie in the array.
  std::int64_t inside(std::int64_t number) const;

  Metadata metadata_;
  ChunkObjects chunks_;
  std::string text_;
  std::mutex mutex_;
  std::shared_ptr<const Unpacked> last_;
};

}  // namespace plait::container::zarr
