/// Datasets that are added to an existing file.
#pragma once

#include <memory>
#include <string>

#include "container/dataset.hpp"
#include "plait/file_options.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// Begins a dataset in an existing file. Readers see it when its changes are committed. One rank calls it.
/// name: the name of the file and the array.
/// errors  kArgument: the options are wrong, an object has the name already, or no dataset can be added to the file.
///         kSystem: another program changes the file.
std::unique_ptr<container::Dataset> add_dataset(const std::shared_ptr<store::Store>& file, const std::string& name,
                                                const FileOptions& options);

}  // namespace plait::container::hdf5
