/// The array of a file that reads and writes are of.
#pragma once

#include <cstdint>
#include <string>

#include "plait/file.hpp"
#include "plan/access/access.hpp"
#include "store/store.hpp"

namespace plait::core {

struct SelectedArray {
  ArrayType type;
  std::int64_t data_offset = 0;
  Extents chunk;  ///< the shape of the chunks that the array lies in; empty: none
  Extents shard;  ///< that of the shards that the chunks lie in; empty: none
  plan::AccessOptions options;
  bool several = false;             ///< raw arrays behind each other, of which `type` and `data_offset` name one
  std::int64_t opening_memory = 0;  ///< what File::select() falls back to
  bool packed = false;              ///< a part of a chunk costs as much as all of it

  /// What an access to a region touches.  errors  kArgument: the region does not fit the array.
  plan::Section section(const Region& region) const { return {type.shape, type.order, region, chunk, shard}; }
};

/// Takes the unit that shares are multiples of from the store's stripes and the elements.
void conform(SelectedArray& array, const store::Store& store);

}  // namespace plait::core
