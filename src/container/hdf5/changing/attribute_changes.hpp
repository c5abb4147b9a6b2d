/// Changes of attributes. They are applied completely or not at all, even if the program is killed.
#pragma once

#include <string>

#include "container/format.hpp"
#include "store/posix/descriptor.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// Opens the file for changes, and locks it as the HDF5 library does.
/// errors  kSystem: no permission; another program has the file open; it has been replaced since `store` was opened.
store::posix::Descriptor lock_for_attributes(store::Store& store, const std::string& path);

/// Changes attributes of a dataset in a private image of the file, and applies the changed bytes through a journal. If
/// the file cannot be mapped, or its folder permits no journal, the library changes the file in place; a kill can then
/// damage it.
/// errors  kSystem.
void change_stored_attributes(store::Store& store, const std::string& path, const std::string& dataset,
                              const AttributeChanges& changes);

}  // namespace plait::container::hdf5
