/// Datasets whose chunks get other offsets when they change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/hdf5/changing/fields.hpp"
#include "container/hdf5/dataset_store.hpp"
#include "container/hdf5/writing/chunk_log.hpp"
#include "container/hdf5/writing/open_chunks.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::container::hdf5 {

/// A dataset that is changed by new chunks. Changed chunks are appended after the end that the superblock states. The
/// rank that writes a chunk compresses it; if it writes a part, it reads the rest first. After all ranks have written,
/// one rank appends an index of all chunks and sets the address of the index in the dataset. Until then every reader
/// sees the former chunks, also after a crash. The space of the former chunks and of the former index stays unused.
/// threads  Any number at once, on different chunks.
class ChangedDataset : public DatasetStore, private WholeChunks {
 public:
  using DatasetStore::DatasetStore;
  /// Cuts off what has been appended, if nothing refers to it.
  ~ChangedDataset() override;
  ChangedDataset(const ChangedDataset&) = delete;
  ChangedDataset& operator=(const ChangedDataset&) = delete;

  /// Finds the fields that a change updates, and locks the file against other programs that change chunks. One rank
  /// calls it before the dataset is broadcast.
  /// errors  kArgument: the layout of the file does not permit the change. kSystem: the file is damaged, or another
  ///         program changes it.
  void prepare();
  /// Sets the counter of the log on every rank, before the first write. alone: true if no other process writes.
  void share(std::unique_ptr<transport::Counter> counter, bool alone);
  /// Returns true after prepare().
  bool is_changed() const { return dataset().changes.has_value(); }
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

 private:
  std::optional<Chunk> find(std::int64_t number) const override;
  std::int64_t chunk_bytes(std::int64_t /*number*/) const override { return DatasetStore::chunk_bytes(); }
  std::int64_t inside(std::int64_t number) const override { return dataset().bytes_inside(number); }
  void fill_chunk(std::int64_t number, std::span<std::byte> chunk) const override;
  void read_old(std::int64_t number, std::span<std::byte> chunk) override;
  void put(std::int64_t number, std::span<const std::byte> chunk) override;

  std::optional<ChunkLog> log_;
  OpenChunks open_{*this};
  // The following members are set by prepare().
  ChangedFields fields_;
  std::uint64_t old_length_ = 0;
  std::uint64_t old_index_ = 0;
  std::int64_t old_size_ = 0;  // size of the file before the changes
  std::optional<store::posix::Descriptor> lock_;
};

}  // namespace plait::container::hdf5
