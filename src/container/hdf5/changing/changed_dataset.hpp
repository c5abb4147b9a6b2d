/// Datasets whose chunks get other offsets when they change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/chunks/open_chunks.hpp"
#include "container/hdf5/changing/changed_file.hpp"
#include "container/hdf5/dataset_store.hpp"
#include "container/hdf5/writing/chunk_log.hpp"

namespace plait::container::hdf5 {

class GrowthGroup;
struct DatasetCreation;

/// What is in the file of a dataset that grows.
struct StoredGrowth {
  Extents shape;                       ///< zeros for a dataset that the file does not have yet
  std::shared_ptr<GrowthGroup> group;  ///< the group that the changes belong to; nullptr if they take effect alone
  std::shared_ptr<const void> turn;    ///< excludes other Files of the group
  std::shared_ptr<const DatasetCreation> creation{};  ///< how the file gets the dataset; nullptr if the file has it
};

/// A dataset that is changed by new chunks, or an array of texts, whose elements refer to the heap of the file. Changed
/// chunks are appended after the end that the superblock states. The rank that writes a chunk compresses it; if it
/// writes a part, it reads the rest first. After all ranks have written, one rank appends an index of all chunks and
/// sets the address of the index in the dataset. Until then every reader sees the former chunks, also after a crash.
/// The space of the former chunks and of the former index stays unused. Texts are appended too. The elements of a
/// contiguous array of texts are copied to the end of the file before the first change, and their new address takes
/// effect like that of an index.
/// threads  Any number at once, on different chunks.
class ChangedDataset : public DatasetStore, private WholeChunks {
 public:
  using DatasetStore::DatasetStore;

  /// Finds the fields that a change updates, and locks the file against other programs that change chunks. One rank
  /// calls it before the dataset is broadcast.
  /// errors  kArgument: the layout of the file does not permit the change. kSystem: the file is damaged, or another
  ///         program changes it.
  void prepare();
  /// Sets the counter of the log on every rank, before the first write. alone: true if no other process writes.
  void share(std::unique_ptr<transport::Counter> counter, bool alone);
  /// Appends a collection of texts, and returns its offset in the file.  errors  kArgument: the file is not changed.
  std::int64_t append_heap(std::span<const std::byte> collection);
  /// Returns true after prepare(), begin_growth() or begin_creation().
  bool is_changed() const { return dataset().changes.has_value(); }
  /// Returns true after begin_growth() or begin_creation().
  bool is_growing() const { return is_changed() && dataset().changes->grows; }
  /// Locks the file, and returns the dataset with the shape that it has in the file, which may differ from that of its
  /// unlimited dimensions. One rank calls it before the dataset is broadcast.
  /// errors  kArgument: the shape cannot change. kSystem: another program changes the file.
  std::shared_ptr<ChangedDataset> begin_growth();
  /// Locks the file, and prepares a dataset that it does not have yet. One rank calls it before the dataset is
  /// broadcast.
  /// errors  kArgument: the file cannot get the dataset. kSystem: another program changes the file.
  void begin_creation(DatasetCreation creation);
  /// Returns the dataset with another shape, with the same log. Every rank calls it, between accesses.
  /// errors  kArgument: the shape exceeds the maximum.
  std::shared_ptr<ChangedDataset> with_shape(const Extents& shape);
  /// Reduces the dataset in the file to `shape`. One rank calls it.  errors  kSystem.
  void reduce(const Extents& shape);
  /// Gives elements of chunks that are outside of `shape` the fill value. One rank calls it.  errors  kSystem.
  void clear_outside(const Extents& shape);
  /// Checks that the HDF5 library could open the file for changes.
  /// errors  kSystem: another program has the file open.
  void check_alone() const;
  /// Commits the changes. The rank that called prepare() calls it after all ranks have written.
  /// errors  kSystem: the former index stays in use.
  void commit();

  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void flush() override;
  void forget() noexcept override;
  /// Writes parts of one chunk; offsets are relative to the chunk.
  void write_chunk(std::int64_t number, std::span<const store::WriteSegment> parts);

 private:
  std::optional<Chunk> find(std::int64_t number) const override;
  std::int64_t chunk_bytes(std::int64_t /*number*/) const override { return DatasetStore::chunk_bytes(); }
  std::int64_t inside(std::int64_t number) const override { return dataset().bytes_inside(number); }
  void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const override;
  void read_old(std::int64_t number, std::span<std::byte> chunk) override;
  void put(std::int64_t number, std::span<const std::byte> chunk) override;

  /// Takes the locked file, and checks that the dataset is still as described.
  void take_file(std::shared_ptr<ChangedFile> locked);
  /// Prepares the log, which begins at `begin` or later.
  void begin_log(std::int64_t begin, bool grows);
  /// Gives the dataset in the file a shape, and enters the appended chunks that are within it.
  void commit_shape(const Extents& shape);
  /// Commits the shape, and those of all datasets of the group if this is the last one.
  void commit_growth();
  /// Copies the elements of a contiguous dataset to an offset.
  void copy_elements(std::int64_t offset);
  /// Makes elements that have the fill value of texts refer to a text in the file.
  void store_missing(std::span<std::byte> elements);
  /// Makes appended bytes that end at `end` take effect, and the new value of the index field.
  void put_into_use(std::int64_t end, std::int64_t index);

  std::shared_ptr<ChunkLog> log_;
  std::once_flag has_written_;  // of a contiguous dataset
  std::mutex missing_mutex_;
  std::vector<std::byte> missing_;  // element that refers to the fill value of texts, once it is stored
  OpenChunks open_{*this};
  std::shared_ptr<ChangedFile> changed_file_;  ///< on the rank that has called prepare() or begin_growth()
  std::shared_ptr<StoredGrowth> stored_;       ///< on the rank that has called begin_growth()
};

}  // namespace plait::container::hdf5
