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

/// A dataset in chunks of a new file.
struct NewDataset {
  Dataset dataset;
  std::int64_t begin = 0;    ///< of its chunks in the store
  std::int64_t told_at = 0;  ///< where 8 bytes of the file are to say where its index is
};

/// A new file in which some datasets lie in chunks.  What begins in front of `begin` lies in the file as it is, chunks
/// that are not packed one behind another.  Packed ones, and those that have a value where nobody writes, have addresses
/// behind that in the store only, and follow each other in the file as they come: a counter that all ranks share says
/// where there is room, and a front of 24 bytes says what each is, so that any rank finds out by going from one to the
/// next.  Who writes a part of a chunk reads the rest first; the chunk is written anew then, and the last one counts.
/// threads  Any number at once, on different chunks.
class NewChunks : public store::Store {
 public:
  /// datasets: by ascending begin.  begin: where in the file that begins which follows as it comes.
  NewChunks(std::shared_ptr<store::Store> file, std::vector<NewDataset> datasets, std::int64_t begin);
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

  /// Writes the indices, when all ranks have written: the file is whole then.  length_told_at: where 8 bytes of it say
  /// how long it is.  One rank calls it.  errors  kSystem: also chunks that are missing.
  void finish(std::int64_t length_told_at);

 private:
  struct Part {
    Dataset dataset;
    codec::Chain codecs;
    std::int64_t begin = 0;
    std::int64_t bytes = 0;  ///< of all chunks in the store
    std::int64_t chunk_bytes = 0;
    std::int64_t first = 0;  ///< the number of its first chunk among those of all parts
    std::int64_t told_at = 0;
  };
  /// A chunk of which a part has been written.
  struct Open {
    std::vector<std::byte> bytes;
    std::int64_t written = 0;
  };
  void check(std::int64_t offset, std::int64_t bytes) const;
  /// That which packs what is there; null: it lies in the file as it is.
  const Part* part_at(std::int64_t offset) const;
  const Part& part_of(std::int64_t number) const;
  template <typename Take>
  void for_each_piece(std::int64_t offset, std::int64_t bytes, const Take& take) const;
  static void fill(const Part& part, std::span<std::byte> chunk);
  /// Bytes of a chunk that lie in the array.
  std::int64_t inside(std::int64_t number) const;
  /// Parts of one chunk, by offsets in it.
  void write_chunk(std::int64_t number, std::span<const store::WriteSegment> parts);
  /// Packs a chunk and writes it behind the others.
  Chunk append(std::int64_t number, std::span<const std::byte> chunk);
  void add_to_open(std::int64_t number, std::span<const store::WriteSegment> parts);
  // Under the mutex, these.
  void close(std::map<std::int64_t, Open>::iterator one);
  void drop(std::map<std::int64_t, Open>::iterator one);
  void read_old(std::int64_t number, std::span<std::byte> chunk);
  /// Learns what others have written so far.
  void look();
  /// The chunks that count, by ascending number.
  std::vector<Chunk> all_written();

  std::shared_ptr<store::Store> file_;
  std::vector<Part> parts_;
  const std::int64_t begin_;
  std::int64_t size_ = 0;
  std::unique_ptr<transport::Counter> counter_;
  bool alone_ = true;

  std::mutex mutex_;
  std::map<std::int64_t, Open> open_;
  std::int64_t open_bytes_ = 0;
  std::vector<Chunk> written_;                          // in the order of their offsets, or alone, of their writes
  std::int64_t looked_ = 0;                             // so far
  std::unordered_map<std::int64_t, std::size_t> last_;  // of each chunk the last one in written_, up to listed_
  std::size_t listed_ = 0;
};

}  // namespace plait::container::hdf5
