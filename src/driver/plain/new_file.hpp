/// New ordinary files.
#pragma once

#include <memory>
#include <string>

#include "store/new_file.hpp"

namespace plait::driver::plain {

/// Begins a new file at `path`. If `path` is the description of a store, such as a striped file, the files of that
/// store are removed with it.
/// errors  Those of FileDriver::create().
std::unique_ptr<store::NewFile> make_new_file(const std::string& path, const store::NewFileOptions& options);

}  // namespace plait::driver::plain
