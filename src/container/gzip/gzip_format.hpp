/// Files of raw elements (without a header) that are compressed by gzip. The format is read-only.
#pragma once

#include "container/format.hpp"

namespace plait::container::gzip {

const Format& format();

}  // namespace plait::container::gzip
