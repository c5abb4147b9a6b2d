/// safetensors: arrays under names, in one file, as programs of machine learning keep them.
#pragma once

#include "container/container.hpp"

namespace plait::container::safetensors {

const Container& container();

}  // namespace plait::container::safetensors
