/// Offsets of the metadata fields that a change of chunks updates (HDF5 File Format Specification 3.0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/errors.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// A little-endian number of 8 bytes. If it is in a block with a checksum, the checksum is the last 4 bytes of the
/// block.
struct NumberField {
  std::int64_t offset = 0;
  std::int64_t block = 0;        ///< offset of the block with the checksum
  std::int64_t block_bytes = 0;  ///< size with the checksum; 0 if there is no checksum
};

/// Reads the number.  errors  kSystem: the checksum of its block is wrong.
std::uint64_t read_number(store::Store& file, const NumberField& field);
/// Writes the number, and the new checksum of its block, by one request.
/// errors  Those of read_number().
void write_number(store::Store& file, const NumberField& field, std::uint64_t value);

/// The fields of a file and of one of its datasets.
struct ChangedFields {
  NumberField length;  ///< length of the file, in a superblock of version 0 to 3
  /// Address of the chunk index of a dataset, a B-tree of version 1, or of the elements of a contiguous dataset.
  NumberField index;
  std::int64_t layout = 0;        ///< offset of the data of the dataset's layout message
  std::int64_t layout_bytes = 0;  ///< their size; 0 if find_fields() has not found the message
  base::Rejection rejection;      ///< reason why the file has no such fields
};

/// Finds only ChangedFields::length.
ChangedFields find_length(store::Store& file);
/// Finds all fields. header: offset of the object header of the dataset, which has version 1 or 2.
/// errors  kSystem: the file is damaged.
ChangedFields find_fields(store::Store& file, std::int64_t header);

/// Returns the checksum that HDF5 uses for metadata blocks: Bob Jenkins' lookup3 ("hashlittle", 2006), initial value 0.
std::uint32_t lookup3(std::span<const std::byte> bytes);

}  // namespace plait::container::hdf5
