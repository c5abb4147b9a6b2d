/// A dataset's elements as one store.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "codec/codec.hpp"
#include "container/hdf5/dataset.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// A chunk as it was before it was packed.
struct Unpacked {
  std::int64_t number = -1;
  std::int64_t offset = 0;  ///< where in the file it was
  std::vector<std::byte> bytes;
};

/// Chunks lie one behind another, each in the space of a whole one; what is nowhere in the file has the fill value.
/// Elements that are not packed are read and written where they lie; packed chunks are unpacked whole, and the last one
/// is cached, for reads that need several pieces of it.
class DatasetStore : public store::Store {
 public:
  /// file: with the bytes.  name: that of the file and the dataset.
  DatasetStore(std::shared_ptr<store::Store> file, HdfDataset dataset, std::string name);

  const HdfDataset& dataset() const { return dataset_; }
  /// The whole file.
  store::Store& file() const { return *file_; }
  const std::string& name() const override { return name_; }
  std::string description() const override;
  std::int64_t size() override { return size_; }
  bool grows() const override { return false; }
  std::unique_ptr<store::Pending> submit_read(std::vector<store::ReadSegment> segments) override;
  /// errors  As check_writable().
  std::unique_ptr<store::Pending> submit_write(std::vector<store::WriteSegment> segments) override;
  void sync() override { file_->sync(); }

  /// errors  kArgument: elements cannot be changed in place.
  void check_writable() const;

  /// Reads where nothing lies as it is in the file.  recent: the chunk that this batch has unpacked last; other threads
  /// may unpack others meanwhile.
  /// errors  kSystem: a chunk that is damaged or of another size, by its index and its offset in the file.
  void read_unpacked(const store::ReadSegment& segment, std::shared_ptr<const Unpacked>& recent);

 protected:
  void check(std::int64_t offset, std::int64_t bytes) const;
  /// Where a chunk lies, if it does.
  virtual std::optional<Chunk> find(std::int64_t number) const;
  void unpack(const Chunk& chunk, std::span<std::byte> into) const;
  void fill(const store::ReadSegment& piece) const;
  const std::shared_ptr<store::Store>& shared_file() const { return file_; }
  HdfDataset& changed_dataset() { return dataset_; }
  std::int64_t chunk_bytes() const { return chunk_bytes_; }
  /// Throws if there is a reason why the dataset cannot be changed in place.  errors  kArgument.
  void check_changeable(const base::Rejection& rejection) const;

 private:
  /// Reads strings of a contiguous dataset, and pads them with NUL.
  void read_texts(const store::ReadSegment& segment) const;
  codec::Chain chain(const Chunk& chunk) const;
  void read_chunk(std::int64_t number, const store::ReadSegment& piece, std::shared_ptr<const Unpacked>& recent);

  std::shared_ptr<store::Store> file_;
  HdfDataset dataset_;
  std::string name_;
  std::int64_t chunk_bytes_ = 0;
  std::int64_t size_ = 0;
  std::mutex mutex_;
  std::shared_ptr<const Unpacked> last_;
};

}  // namespace plait::container::hdf5
