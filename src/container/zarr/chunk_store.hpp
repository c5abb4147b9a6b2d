/// The chunks of an array as one store, in the order of plan/access/chunks.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "container/zarr/metadata.hpp"
#include "store/store.hpp"

namespace plait::container::zarr {

/// A chunk as it was before it was packed.
struct Unpacked {
  std::int64_t number = -1;
  std::vector<std::byte> bytes;
};

/// Each chunk takes the room of a whole one; what no file holds has the value that the metadata gives it.  Chunks that
/// are not packed are read where their elements lie; the others are unpacked whole, and the last one is kept, for reads
/// that need several pieces of it.
class ChunkStore : public store::Store {
 public:
  /// folder: of the array.  text: its metadata, for other ranks.
  ChunkStore(std::string folder, Metadata metadata, std::string text);

  const Metadata& metadata() const { return metadata_; }
  const std::string& text() const { return text_; }
  const std::string& name() const override { return folder_; }
  std::string description() const override;
  std::int64_t size() override;
  bool grows() const override { return false; }
  /// Carried out when the batch is completed.
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// errors  kArgument: always.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override {}

  /// recent: the chunk that this batch has unpacked last; other threads may unpack others meanwhile.
  /// errors  kSystem: not inside; a chunk that is damaged or of another size, by the name of its file.
  void read_segment(const store::ReadSegment& segment, std::shared_ptr<const Unpacked>& recent);
  /// The file of a chunk.
  std::string file_of(std::int64_t number) const;

 private:
  void read_stored(std::int64_t number, const store::ReadSegment& piece) const;
  void read_packed(std::int64_t number, const store::ReadSegment& piece, std::shared_ptr<const Unpacked>& recent);
  /// Of a chunk that has no file.
  void fill(const store::ReadSegment& piece) const;
  /// Of a chunk that is not there, if the array still is.
  void fill_missing(const store::ReadSegment& piece) const;

  std::string folder_;
  Metadata metadata_;
  std::string text_;
  std::mutex mutex_;
  std::shared_ptr<const Unpacked> last_;
};

}  // namespace plait::container::zarr
