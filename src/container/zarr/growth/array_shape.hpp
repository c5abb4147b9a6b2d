/// Reads and changes the shape of an existing array, and removes objects and elements outside of it.
#pragma once

#include "container/zarr/chunk_store.hpp"
#include "plait/layout.hpp"
#include "store/objects/object_store.hpp"

namespace plait::container::zarr {

/// Reads the present shape from the metadata of the array in `objects`.
/// errors  kSystem: the metadata are missing, or are not JSON.
Extents read_shape(store::ObjectStore& objects);

/// Replaces the shape in the metadata of the array in `objects`, by writing the metadata object anew. Updates or
/// removes the copies of the metadata in the groups above.  pre  All written elements have been flushed.
/// errors  kSystem, EBUSY: the array does not have the shape `from` any more.
void change_shape(store::ObjectStore& objects, const Extents& from, const Extents& to);

/// Removes all objects whose elements are all outside of `shape`.
/// cost  The names of all objects of the array are listed.
void remove_outside(ChunkStore& chunks, const Extents& shape);

/// Removes all objects whose elements are all outside of the array, and gives elements outside of the array in other
/// objects the fill value.
/// cost  That of remove_outside(); chunks that cross the end of the array are read, and written if they change.
void clear_outside(ChunkStore& chunks);

}  // namespace plait::container::zarr
