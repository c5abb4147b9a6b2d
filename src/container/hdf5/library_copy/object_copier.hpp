/// Copies datasets that Plait cannot read, by the HDF5 library (docs/decisions/0090-copied-by-hdf5s-library.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "container/hdf5/library.hpp"
#include "container/hdf5/library_copy/references.hpp"
#include "plait/file_options.hpp"

namespace plait::container::hdf5 {

/// Returns true if copy_datasets() can copy a dataset with these creation properties and this type of elements.
bool is_copyable(const Library& hdf5, hid_t type, hid_t properties);

/// Copies datasets with their attributes into a new file, in which all other objects exist already. Copied references
/// refer to the objects of the same names in the new file. Attributes that refer to objects that it does not have are
/// left out.
/// target: the new file. target_name: its name in errors.
/// errors  kArgument: a dataset refers to an object that the new file does not have, and LibraryCopies::skips is false;
///         an object has its name already.
///         kSystem: the source cannot be opened, or the library fails.
/// cost    The elements of one dataset with references are in memory at a time.
void copy_datasets(const Library& hdf5, const LibraryCopies& copies, hid_t target, const std::string& target_name);

}  // namespace plait::container::hdf5
