/// New striped files.
#pragma once

#include <memory>
#include <string>

#include "store/new_file.hpp"

namespace plait::driver::stripe {

/// Begins a new striped file.  errors  Those of FileDriver::create().
std::unique_ptr<store::NewFile> make_new_file(const std::string& url, const store::NewFileOptions& options);

}  // namespace plait::driver::stripe
