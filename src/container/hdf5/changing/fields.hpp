/// Where numbers that change stand in the metadata of an HDF5 file (HDF5 File Format Specification 3.0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/errors.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// A number of 8 bytes, the least first.  Where it lies in a block with a check sum, that is the last 4 bytes of it.
struct NumberField {
  std::int64_t at = 0;
  std::int64_t block = 0;        ///< where that begins
  std::int64_t block_bytes = 0;  ///< with the sum; 0: there is none
};

/// errors  kSystem: a block whose check sum is wrong.
std::uint64_t read_number(store::Store& file, const NumberField& field);
/// Writes it, and the check sum, by one request.  errors  The same.
void write_number(store::Store& file, const NumberField& field, std::uint64_t value);

struct ChangedFields {
  NumberField length;         ///< of the file, in its superblock, of versions 0 to 3
  NumberField index;          ///< where the index of the chunks of a dataset is: a B-tree of version 1
  base::Rejection rejection;  ///< why the file has no such numbers
};

/// header: where the object header of the dataset, of version 1 or 2, begins.
/// errors  kSystem: damaged.
ChangedFields find_fields(store::Store& file, std::int64_t header);

/// The check sum of blocks of metadata: Bob Jenkins' lookup3 ("hashlittle", 2006), begun with 0.
std::uint32_t lookup3(std::span<const std::byte> bytes);

}  // namespace plait::container::hdf5
