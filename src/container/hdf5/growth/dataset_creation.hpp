/// New datasets in existing files.
#pragma once

#include <cstdint>
#include <string>

#include "container/content.hpp"

namespace plait::container::hdf5 {

class Library;
class Overlay;

/// A dataset to be added to an existing file.
struct DatasetCreation {
  Member member;           ///< the array; its offset is not used
  bool is_netcdf = false;  ///< true if netCDF's library must be able to read the file
  /// The offset in the file of the elements of a dataset without chunks; 0 if the dataset has chunks or no elements.
  std::int64_t offset = 0;
};

/// Makes a dataset in an overlay, with its attributes, the groups above it and the scales of its dimensions. No chunks
/// are allocated. Returns the path of the dataset in the file.
/// path: the path of the file, for errors.
/// errors  kArgument: an object has the name already, or a dimension has another length. kSystem: the library fails.
std::string create_dataset(const Library& hdf5, Overlay& overlay, const std::string& path,
                           const DatasetCreation& creation);

}  // namespace plait::container::hdf5
