/// The elements of a dataset that Plait does not decode, as one store.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "container/hdf5/dataset_store.hpp"
#include "container/hdf5/library_read/library_reader.hpp"

namespace plait::container::hdf5 {

/// The store of a dataset with HdfDataset::library_reason: the HDF5 library of each rank reads its elements. Chunks are
/// consecutive, as in DatasetStore, and each is decoded as a whole. Without chunks, the store holds the elements in C
/// order.
class LibraryStore : public DatasetStore {
 public:
  LibraryStore(std::shared_ptr<store::Store> file, const HdfDataset& dataset, const std::string& name);

 protected:
  std::optional<Chunk> find_chunk(std::int64_t number) const override;
  void decode_chunk(const Chunk& chunk, std::span<std::byte> into) const override;
  void read_whole(std::int64_t offset, std::span<std::byte> into) const override;

 private:
  const std::unique_ptr<LibraryReader> reader_;
};

}  // namespace plait::container::hdf5
