/// safetensors: named arrays in one file, as machine-learning programs store them.
#pragma once

#include "container/format.hpp"

namespace plait::container::safetensors {

const Format& format();

}  // namespace plait::container::safetensors
