/// Datasets whose chunks are read from an object store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/hdf5/dataset_store.hpp"

namespace plait::container::hdf5 {

/// A dataset with chunks that are decoded as a whole. A batch of segments reads all its chunks by requests that are in
/// flight together.
class RangeDataset : public DatasetStore {
 public:
  /// Maximum number of bytes of chunks that are in memory before they are decoded; a single chunk may be larger.
  static constexpr std::int64_t kMaxEncodedBytes = std::int64_t{16} << 20;

  using DatasetStore::DatasetStore;

  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;

 private:
  /// The pieces of a batch in one chunk; offsets are relative to the chunk.
  struct PiecesOfChunk {
    Chunk chunk;
    std::vector<store::ReadSegment> pieces;
  };
  /// Reads a batch in parts whose encoded chunks fit into kMaxEncodedBytes.
  void read_batch(const std::vector<store::ReadSegment>& segments);
  /// Copies the pieces of a batch that need no request. Returns the pieces of all other chunks, sorted by the offset of
  /// the chunk.
  std::vector<PiecesOfChunk> copy_cached_pieces(const std::vector<store::ReadSegment>& segments);
  /// Reads and decodes chunks, whose encoded bytes are in memory at the same time.
  void read_chunks(std::span<const PiecesOfChunk> chunks);
  /// Decodes a chunk, and copies its pieces. encoded: the bytes of the chunk in the file.
  void copy_pieces(const PiecesOfChunk& pieces_of_chunk, std::span<const std::byte> encoded);
};

}  // namespace plait::container::hdf5
