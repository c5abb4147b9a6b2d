/// The store of an array of texts of any length.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/chunk_cache.hpp"
#include "container/dataset.hpp"
#include "container/zarr/chunk_store.hpp"

namespace plait::container::zarr {

/// The chunks of an array of texts. In the store each element is a reference to a text, see TextAccess.
class TextStore : public ChunkStore, public TextAccess {
 public:
  /// The parameters are those of ChunkStore.
  TextStore(std::shared_ptr<store::ObjectStore> objects, Metadata metadata, std::string text, bool is_new);

  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void flush() override;
  void resize_cache(std::int64_t bytes) override { decoded_.resize(bytes); }
  TextAccess* texts() override { return this; }

  TextBlock read_texts(std::span<const std::byte> elements) override;
  std::vector<std::byte> add_texts(const TextBlock& texts) override;
  bool shares_elements() const override { return false; }

 private:
  /// A chunk that has been read.
  struct TextChunk {
    std::int64_t number = -1;
    std::vector<std::byte> bytes;
    std::vector<std::string_view> texts;  ///< empty if no object holds the chunk
    store::ObjectIdentity identity;

    std::int64_t memory_bytes() const {
      return static_cast<std::int64_t>(bytes.size() + texts.size() * sizeof(std::string_view));
    }
  };
  /// Returns the number of texts in a chunk.
  std::size_t chunk_texts() const;
  /// Reads and decodes a chunk, or returns the cached one if its object is still the same.
  std::shared_ptr<const TextChunk> read_chunk(std::int64_t number);
  /// Encodes the texts of the written elements and the others of a chunk, and puts the chunk.
  void write_texts(std::int64_t number, const std::vector<store::WriteSegment>& parts);
  /// Returns true if a part has an element that a read of this chunk has returned.
  static bool has_former_texts(std::int64_t number, const std::vector<store::WriteSegment>& parts);
  /// Returns the text of an element that is written to a chunk.
  /// errors  kArgument: neither add_texts() nor a read of the former chunk has returned the element.
  std::string_view find_written_text(std::int64_t number, const TextChunk& former,
                                     std::span<const std::byte> element) const;

  codec::ChunkCache<TextChunk> decoded_;  // the chunks that were read most recently
  TextBlock added_;                       // the texts of the last call of add_texts()
  std::int64_t first_added_ = 0;          // number of the first of them
};

}  // namespace plait::container::zarr
