/// Raw elements, packed by gzip: only read.
#pragma once

#include "container/container.hpp"

namespace plait::container::gzip {

const Container& container();

}  // namespace plait::container::gzip
