/// The array of a file that reads and writes are of.
#pragma once

#include <cstdint>

#include "plait/file.hpp"
#include "plan/access/access.hpp"
#include "store/store.hpp"

namespace plait::core {

struct SelectedArray {
  ArrayType type;
  std::int64_t data_offset = 0;
  plan::AccessOptions options;
  bool several = false;             ///< raw arrays behind each other, of which `type` and `data_offset` name one
  std::int64_t opening_memory = 0;  ///< what File::select() falls back to
};

/// Takes the unit that shares are multiples of from the store's stripes and the elements.
void conform(SelectedArray& array, const store::Store& store);

}  // namespace plait::core
