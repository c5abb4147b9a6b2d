/// Datasets whose changed chunks are stored at new offsets.
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

/// The shape in the file of a dataset whose shape changes, and the state of that change.
struct GrowthState {
  Extents shape;                       ///< its shape in the file; zeros if the file does not have the dataset yet
  std::shared_ptr<GrowthGroup> group;  ///< the group that commits the changes together; nullptr if there is none
  std::shared_ptr<const void> exclusive_token;        ///< while it exists, no other File of the group begins a change
  std::shared_ptr<const DatasetCreation> creation{};  ///< how to create the dataset; nullptr if the file has it
};

/// A dataset that can be changed although its elements get new offsets: a chunked dataset, or a contiguous array of
/// texts.
///
/// A change never overwrites bytes that readers may use. Changed chunks are appended after the end of the file that the
/// superblock states. The rank that writes a chunk compresses it; if it writes only a part, it reads the chunk first.
/// After all ranks have written, one rank appends an index of all chunks and sets the address of the index in the
/// object header of the dataset. Until then every reader sees the former chunks, even after a crash. The space of the
/// former chunks and of the former index is not used again.
///
/// The elements of an array of texts refer to texts in the heap of the file. New texts are appended, too. The elements
/// of a contiguous array of texts are copied to the end of the file before the first change, and their new address
/// takes effect in the same way as that of an index.
/// threads  Any number at once, on different chunks.
class ChangedDataset : public DatasetStore, private WholeChunks {
 public:
  using DatasetStore::DatasetStore;

  /// Finds the fields that a change updates, and locks the file against other programs that change chunks. One rank
  /// calls it before the dataset is broadcast.
  /// errors  kArgument: the layout of the file does not permit the change. kSystem: the file is damaged, or another
  ///         program changes it.
  void begin_changes();
  /// Sets the counter of the log on every rank, before the first write.
  /// is_only_writer: true if no other process writes.
  void share(std::unique_ptr<transport::Counter> counter, bool is_only_writer);
  /// Appends a collection of texts, and returns its offset in the file.  errors  kArgument: the file is not changed.
  std::int64_t append_heap(std::span<const std::byte> collection);
  /// Returns true after begin_changes(), begin_growth() or begin_creation(), and on the ranks to which the dataset has
  /// been broadcast after that.
  bool is_being_changed() const { return dataset().changes.has_value(); }
  /// Returns true after begin_growth() or begin_creation().
  bool is_growing() const { return is_being_changed() && dataset().changes->grows; }
  /// Locks the file for a change of the shape. Returns the dataset with the shape that it has in the file: with missing
  /// records (HdfDataset::stored_shape), that shape is smaller than the one of this object. One rank calls it before
  /// the dataset is broadcast.
  /// errors  kArgument: the shape cannot change. kSystem: another program changes the file.
  std::shared_ptr<ChangedDataset> begin_growth();
  /// Locks the file, and prepares a dataset that it does not have yet. One rank calls it before the dataset is
  /// broadcast.
  /// errors  kArgument: the dataset cannot be added. kSystem: another program changes the file.
  void begin_creation(DatasetCreation creation);
  /// Returns this dataset with another shape; both share the log. Every rank calls it, between accesses.
  /// errors  kArgument: the shape exceeds the maximum.
  std::shared_ptr<ChangedDataset> with_shape(const Extents& shape);
  /// Reduces the dataset in the file to `shape`. One rank calls it.  errors  kSystem.
  void reduce(const Extents& shape);
  /// Sets the elements outside `shape` to the fill value, in chunks that are partly inside. One rank calls it.
  /// errors  kSystem.
  void clear_outside(const Extents& shape);
  /// Checks that no other program has the file open through the HDF5 library, which must open it to change attributes.
  /// errors  kSystem: another program has the file open.
  void check_not_open_elsewhere() const;
  /// Commits the changes. The rank that called begin_changes(), begin_growth() or begin_creation() calls it after all
  /// ranks have written.
  /// errors  kSystem: the former index stays in use.
  void commit();

  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void flush() override;
  void discard_buffered() noexcept override;
  /// Writes parts of one chunk; offsets are relative to the chunk.
  void write_chunk(std::int64_t number, std::span<const store::WriteSegment> parts);

 private:
  std::optional<Chunk> find_chunk(std::int64_t number) const override;
  std::int64_t chunk_bytes(std::int64_t /*number*/) const override { return DatasetStore::chunk_bytes(); }
  std::int64_t bytes_inside(std::int64_t number) const override { return dataset().bytes_inside(number); }
  void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const override;
  void read_old(std::int64_t number, std::span<std::byte> chunk) override;
  void put(std::int64_t number, std::span<const std::byte> chunk) override;

  /// Stores the locked file, and checks that the dataset in it is still as described.
  void adopt_locked_file(std::shared_ptr<ChangedFile> locked_file);
  /// Prepares the log, which begins at the first suitable offset from `begin` on. The elements of a contiguous dataset
  /// that does not grow are first copied to that offset.
  void begin_log(std::int64_t begin, bool grows);
  /// Sets the shape of the dataset in the file, and adds the appended chunks within that shape to the index. In a
  /// group, this takes effect only when the changes of the whole group are committed.
  void commit_shape(const Extents& shape);
  /// Commits the shape. In a group, the last dataset commits the shapes of all.
  void commit_growth();
  /// Copies the elements of a contiguous dataset to an offset.
  void copy_elements(std::int64_t offset);
  /// Replaces elements that stand for the fill value of texts by references to a text in the file, which the first call
  /// appends.
  void store_fill_texts(std::span<std::byte> elements);
  /// Commits the appended bytes: sets the length of the file to `end`, then the index field to `index`.
  void commit_fields(std::int64_t end, std::int64_t index);

  std::shared_ptr<ChunkLog> log_;
  std::once_flag first_write_;  // for the first write to a contiguous dataset
  std::mutex stored_fill_mutex_;
  // Element that refers to the fill value of texts in the file; empty until store_fill_texts() has appended that text.
  std::vector<std::byte> stored_fill_;
  OpenChunks open_{*this};
  std::shared_ptr<ChangedFile> changed_file_;  ///< on the rank that has begun the change
  std::shared_ptr<GrowthState> growth_state_;  ///< on the rank that has called begin_growth() or begin_creation()
};

}  // namespace plait::container::hdf5
