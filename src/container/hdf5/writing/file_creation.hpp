/// New HDF5 files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "container/format.hpp"

namespace plait::container::hdf5 {

/// See Format::create().  kSystem: there is no library; it fails.
std::unique_ptr<container::NewFile> create_file(const std::string& path, const FileOptions& options);

/// See Format::attach_new().  Needs no library.
std::unique_ptr<container::NewFile> attach_file(const std::string& path, const FileOptions& options,
                                                std::string_view encoded);

}  // namespace plait::container::hdf5
