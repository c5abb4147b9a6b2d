/// What is run on files of formats that hold several arrays.
#pragma once

#include <vector>

#include "received.hpp"

namespace plait::fuzz {

/// `npz`, `safetensors` and `netcdf`: each array that a file lists is opened, as by the first rank and by another one.
std::vector<Received> received_in_files();

}  // namespace plait::fuzz
