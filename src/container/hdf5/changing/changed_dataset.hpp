/// Datasets whose chunks get other offsets when they are changed.
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

/// Changed chunks are appended after the end that the superblock states.  The rank that writes a chunk packs it; if it
/// writes a part, it reads the rest first.  When all have written, one rank appends an index of all chunks and lets the
/// dataset point to that.  Until then every reader, also after a crash, sees the chunks as they were.  The space of the
/// former chunks and index stays unused.
/// threads  Any number at once, on different chunks.
class ChangedDataset : public DatasetStore, private WholeChunks {
 public:
  using DatasetStore::DatasetStore;
  /// What has been appended for nothing goes.
  ~ChangedDataset() override;
  ChangedDataset(const ChangedDataset&) = delete;
  ChangedDataset& operator=(const ChangedDataset&) = delete;

  /// Finds the fields that a change updates, and locks the file against other programs that change chunks.  One rank
  /// calls it, before the dataset is broadcast.
  /// errors  kArgument: the layout of the file does not permit it.  kSystem: damaged; another program changes it.
  void prepare();
  /// Before the first write, on every rank.  alone: whether no other process writes.
  void share(std::unique_ptr<transport::Counter> counter, bool alone);
  /// Whether it has been prepared.
  bool is_changed() const { return dataset().changes.has_value(); }
  /// errors  kSystem: another program has the file open, so that HDF5's library would not open it for changes.
  void check_alone() const;
  /// Lets the file have the changes.  The rank that has prepared it calls it, when all have written.
  /// errors  kSystem: the file stays as it was.
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
  // Of the rank that prepares it.
  ChangedFields fields_;
  std::uint64_t old_length_ = 0;
  std::uint64_t old_index_ = 0;
  std::int64_t old_size_ = 0;  // as others have left it
  std::optional<store::posix::Descriptor> lock_;
};

}  // namespace plait::container::hdf5
