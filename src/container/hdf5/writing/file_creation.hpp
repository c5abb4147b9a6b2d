/// Creates HDF5 files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "container/format.hpp"

namespace plait::container::hdf5 {

/// Makes a new file, see Format::create().  errors  kSystem: there is no library, or it fails.
std::unique_ptr<container::NewFile> create_file(const std::string& path, const FileOptions& options);

/// Attaches to a new file on another rank, see Format::attach_new(). It does not need the library.
std::unique_ptr<container::NewFile> attach_file(const std::string& path, const FileOptions& options,
                                                std::string_view encoded);

}  // namespace plait::container::hdf5
