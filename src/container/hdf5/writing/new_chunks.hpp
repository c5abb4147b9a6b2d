/// The chunks of a new dataset, packed by all ranks and written where they find room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "codec/codec.hpp"
#include "container/hdf5/dataset.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container::hdf5 {

/// Chunks that are not packed lie one behind another from the head on.  Packed ones follow each other as they come: a
/// counter that all ranks share says where there is room, and a front of 24 bytes says what each is, so that any rank
/// finds out by going from one to the next.  Who writes a part of a chunk reads the rest first; the chunk is written
/// anew then, and the last one counts.
/// threads  Any number at once, on different chunks.
class NewChunks : public store::Store {
 public:
  /// begin: where the head of the file ends, and chunks begin.
  NewChunks(std::shared_ptr<store::Store> file, Dataset dataset, std::int64_t begin);
  /// Before the first write.  alone: whether no other process writes.
  void share(std::unique_ptr<transport::Counter> counter, bool alone);

  const std::string& name() const override { return file_->name(); }
  std::string description() const override;
  std::int64_t size() override { return size_; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// Packed chunks are written when the batch is completed if all of them is there, else by settle() at the latest.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void settle() override;
  void sync() override { file_->sync(); }

  /// Writes the index, when all ranks have written: the file is whole then.  head: of the file.  One rank calls it.
  /// errors  kSystem: also chunks that are missing.
  void finish(std::span<const std::byte> head);

  /// Parts of one chunk, by offsets in it.
  void write_chunk(std::int64_t number, std::span<const store::WriteSegment> parts);

 private:
  /// A chunk of which a part has been written.
  struct Open {
    std::vector<std::byte> bytes;
    std::int64_t written = 0;
  };
  bool packed() const { return !dataset_.filters.empty(); }
  void check(std::int64_t offset, std::int64_t bytes) const;
  /// Bytes of a chunk that lie in the array.
  std::int64_t inside(std::int64_t number) const;
  /// Packs a chunk and writes it behind the others.
  Chunk append(std::int64_t number, std::span<const std::byte> chunk);
  void add_to_open(std::int64_t number, std::span<const store::WriteSegment> parts);
  // Under the mutex, these.
  void close(std::map<std::int64_t, Open>::iterator one);
  void read_old(std::int64_t number, std::span<std::byte> chunk);
  /// Learns what others have written so far.
  void look();

  std::shared_ptr<store::Store> file_;
  const Dataset dataset_;
  const codec::Chain codecs_;
  const std::int64_t begin_;
  const std::int64_t chunk_bytes_;
  std::int64_t size_ = 0;
  std::unique_ptr<transport::Counter> counter_;
  bool alone_ = true;

  std::mutex mutex_;
  std::map<std::int64_t, Open> open_;
  std::vector<Chunk> written_;                          // in the order of their offsets, or alone, of their writes
  std::int64_t looked_ = 0;                             // so far
  std::unordered_map<std::int64_t, std::size_t> last_;  // of each chunk the last one in written_, up to listed_
  std::size_t listed_ = 0;
};

}  // namespace plait::container::hdf5
