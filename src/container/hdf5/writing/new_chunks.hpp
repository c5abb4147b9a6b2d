/// The chunks of a new dataset, packed by all ranks and written where there is space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "container/hdf5/dataset.hpp"
#include "container/hdf5/writing/chunk_log.hpp"
#include "container/hdf5/writing/open_chunks.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container::hdf5 {

/// A dataset in chunks of a new file.
struct NewDataset {
  HdfDataset dataset;
  std::int64_t begin = 0;          ///< of its chunks in the store
  std::int64_t address_field = 0;  ///< where 8 bytes of the file are to say where its index is
};

/// A new file in which some datasets lie in chunks.  What begins before `begin` lies in the file as it is, chunks
/// that are not packed one behind another.  Packed ones, and those that have a value where nobody writes, have addresses
/// behind that in the store only, and follow each other in the file as they come (ChunkLog).  Who writes a part of a chunk
/// reads the rest first; the chunk is written anew then, and the last one counts.
/// threads  Any number at once, on different chunks.
class NewChunks : public store::Store, private WholeChunks {
 public:
  /// datasets: by ascending begin.  begin: where in the file that begins which follows as it comes.
  NewChunks(std::shared_ptr<store::Store> file, std::vector<NewDataset> datasets, std::int64_t begin);
  /// Before the first write.  alone: whether no other process writes.
  void share(std::unique_ptr<transport::Counter> counter, bool alone) { log_.share(std::move(counter), alone); }

  const std::string& name() const override { return file_->name(); }
  std::string description() const override;
  std::int64_t size() override { return size_; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// Packed chunks are written when the batch is completed if all of them is there, else by flush() at the latest.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void flush() override { open_.flush(); }
  void forget() noexcept override { open_.forget(); }
  void sync() override { file_->sync(); }

  /// Writes the indices, when all ranks have written: the file is whole then.  length_field: where 8 bytes of it say
  /// how long it is.  One rank calls it.  errors  kSystem: also chunks that are missing.
  void finish(std::int64_t length_field);

 private:
  struct Part {
    HdfDataset dataset;
    codec::Chain codecs;
    std::int64_t begin = 0;
    std::int64_t bytes = 0;  ///< of all chunks in the store
    std::int64_t chunk_bytes = 0;
    std::int64_t first = 0;  ///< the number of its first chunk among those of all parts
    std::int64_t address_field = 0;
  };
  // Of all parts, these.
  std::int64_t chunk_bytes(std::int64_t number) const override { return part_of(number).chunk_bytes; }
  std::int64_t inside(std::int64_t number) const override;
  void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const override;
  void read_old(std::int64_t number, std::span<std::byte> chunk) override;
  void put(std::int64_t number, std::span<const std::byte> chunk) override;

  void check(std::int64_t offset, std::int64_t bytes) const;
  /// That which packs what is there; null: it lies in the file as it is.
  const Part* part_at(std::int64_t offset) const;
  const Part& part_of(std::int64_t number) const;
  template <typename Take>
  void for_each_piece(std::int64_t offset, std::int64_t bytes, const Take& take) const;

  std::shared_ptr<store::Store> file_;
  std::vector<Part> parts_;
  const std::int64_t begin_;
  std::int64_t size_ = 0;
  ChunkLog log_;
  OpenChunks open_{*this};
};

}  // namespace plait::container::hdf5
