/// New ordinary files.
#pragma once

#include <memory>
#include <string>

#include "store/new_file.hpp"

namespace plait::driver::plain {

/// Begins a new file at `path`.  Where that is a file that stands for others, as the description of a striped file,
/// what it stands for goes with it.
/// errors  As FileDriver::create().
std::unique_ptr<store::NewFile> make_new_file(const std::string& path, const store::NewFileOptions& options);

}  // namespace plait::driver::plain
