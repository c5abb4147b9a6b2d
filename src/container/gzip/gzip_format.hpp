/// Raw elements, packed by gzip: only read.
#pragma once

#include "container/format.hpp"

namespace plait::container::gzip {

const Format& format();

}  // namespace plait::container::gzip
