/// The chunks of the datasets of a new file, which all ranks compress and append in the order of writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "container/chunks/open_chunks.hpp"
#include "container/hdf5/dataset.hpp"
#include "container/hdf5/writing/chunk_log.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container::hdf5 {

/// A chunked dataset of a new file.
struct NewDataset {
  HdfDataset dataset;
  std::int64_t begin = 0;          ///< offset of its chunks in the store
  std::int64_t address_field = 0;  ///< offset in the file of the 8 bytes that hold the address of its index
};

/// A new file with datasets in chunks. The store has two address ranges. Addresses below `begin` are offsets in the
/// file; chunks that are not compressed and have no fill value are stored there, one after the other. Addresses from
/// `begin` on are virtual: they belong to compressed chunks and to chunks with a fill value, which are stored in the
/// file in the order of writing (ChunkLog). If a write covers only a part of a chunk that has been stored before, the
/// chunk is read, changed and appended again, and the last copy counts.
/// threads  Any number at once, on different chunks.
class NewChunks : public store::Store, private WholeChunks {
 public:
  /// datasets: sorted by begin. begin: offset in the file at which the log begins.
  NewChunks(std::shared_ptr<store::Store> file, std::vector<NewDataset> datasets, std::int64_t begin);
  /// Sets the counter of the log, before the first write. is_only_writer: true if no other process writes.
  void share(std::unique_ptr<transport::Counter> counter, bool is_only_writer) {
    log_.share(std::move(counter), is_only_writer);
  }

  const std::string& name() const override { return file_->name(); }
  std::string description() const override;
  std::int64_t size() override { return size_; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// Writes segments. A compressed chunk is appended by the completion of the batch that completes it, or by flush() at
  /// the latest.
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void flush() override { open_.flush(); }
  void discard_buffered() noexcept override { open_.discard(); }
  void sync() override { file_->sync(); }

  /// Returns the store of the whole file.
  store::Store& file() const { return *file_; }
  /// Appends a collection of texts. Returns its offset in the file.  errors  kSystem.
  std::int64_t append_heap(std::span<const std::byte> collection) { return log_.append_heap(collection); }
  /// Writes the indexes, after which the file is complete. One rank calls it after all ranks have written.
  /// length_field: the offset of the 8 bytes that state the length of the file. has_log: true if share() was called.
  /// errors  kSystem: a write fails, or chunks are missing.
  void finish(std::int64_t length_field, bool has_log);

 private:
  /// A chunked dataset, and its range of addresses and of chunk numbers.
  struct Part {
    HdfDataset dataset;
    codec::Chain codecs;
    std::int64_t begin = 0;  ///< address of its first chunk in the store
    std::int64_t bytes = 0;  ///< size of all chunks in the store, uncompressed
    std::int64_t chunk_bytes = 0;
    std::int64_t first_chunk = 0;  ///< number of its first chunk among those of all parts
    std::int64_t end_chunk = 0;    ///< number after its last chunk
    std::int64_t address_field = 0;
  };
  // In the functions of WholeChunks, numbers count the chunks of all parts.
  std::int64_t chunk_bytes(std::int64_t number) const override { return find_part(number).chunk_bytes; }
  std::int64_t bytes_inside(std::int64_t number) const override;
  void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const override;
  void read_old(std::int64_t number, std::span<std::byte> chunk) override;
  void put(std::int64_t number, std::span<const std::byte> chunk) override;

  /// Writes the fill value to chunks of texts that no rank has written, because the HDF5 library does not supply fill
  /// values of texts in files that it opens for reading only.
  void write_missing_texts();
  /// errors  kSystem, EINVAL: the range exceeds the store.
  void check_range(std::int64_t offset, std::int64_t bytes) const;
  /// Returns the part to which a virtual address belongs; nullptr if the address is an offset in the file.
  const Part* find_virtual_part(std::int64_t offset) const;
  /// Returns the part that has the chunk of this number.
  const Part& find_part(std::int64_t number) const;
  /// Returns the chunks of a part that are stored in the file, numbered within the part, by ascending number.
  /// logged: all chunks in the log.
  std::vector<Chunk> stored_chunks(const Part& part, const std::vector<Chunk>& logged) const;
  /// Splits a range of virtual addresses at the borders of chunks, as for_each_chunk() does. `take` gets numbers among
  /// the chunks of all parts.
  template <typename Take>
  void for_each_piece(std::int64_t offset, std::int64_t bytes, const Take& take) const;

  std::shared_ptr<store::Store> file_;
  std::vector<Part> parts_;
  const std::int64_t begin_;  // the first virtual address, and the offset in the file at which the log begins
  std::int64_t size_ = 0;     // the address after all parts
  ChunkLog log_;
  OpenChunks open_{*this};
};

}  // namespace plait::container::hdf5
