/// Raw elements: no header.
#pragma once

#include "container/container.hpp"

namespace plait::container::raw {

const Container& container();

}  // namespace plait::container::raw
