/// safetensors: arrays under names, in one file, as programs of machine learning keep them.
#pragma once

#include "container/format.hpp"

namespace plait::container::safetensors {

const Format& format();

}  // namespace plait::container::safetensors
