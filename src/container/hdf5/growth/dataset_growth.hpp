/// Changes of the shape of a dataset, and of its chunk index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/hdf5/dataset.hpp"

namespace plait::container::hdf5 {

struct DatasetCreation;

/// An entry that must be added to the chunk index, for a chunk that is stored in the file.
struct ChunkEntry {
  Extents first;  ///< the index of its first element
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::uint32_t filter_mask = 0;  ///< filter mask
};

/// A change of the shape of one dataset, or a new dataset.
struct DatasetGrowth {
  std::string path;
  std::shared_ptr<const DatasetCreation> creation{};  ///< how to create the dataset first; nullptr if the file has it
  /// A smaller shape that is set first: it removes from the index those chunks that are then entered again with other
  /// offsets. Empty if no chunk must be removed.
  Extents reduced;
  Extents shape;                   ///< the new shape in the file
  std::vector<ChunkEntry> chunks;  ///< the entries that are added once the shape is set
  std::int64_t end = 0;            ///< the offset after the appended bytes; a smaller file has lost some of them
};

/// Returns the change that gives a dataset another shape.
/// dataset: the shape that the user sees, and the chunks of the index. stored: the present shape in the file.
/// changed: the appended chunks that are not in the index yet. shape: the new shape in the file.
DatasetGrowth make_growth(const HdfDataset& dataset, const Extents& stored, std::span<const Chunk> changed,
                          const Extents& shape);

/// Returns true if the index of a dataset has the chunk, at the same offset.
bool is_in_index(const HdfDataset& dataset, const Chunk& chunk);

/// Sets the chunks of a dataset to those that its index has after a change to `shape`. Chunk numbers still refer to the
/// grid of the dataset's own shape.  changed: as for make_growth().
void update_index(HdfDataset& dataset, std::span<const Chunk> changed, const Extents& shape);

/// A file whose datasets change.
struct GrowingFile {
  int descriptor = -1;           ///< locked against other writers
  std::string path;              ///< absolute path
  std::int64_t free_offset = 0;  ///< the offset after all appended chunks
};

/// Applies all changes through one journal. Returns the new length of the file.
/// errors  kSystem: no change has been applied.
std::int64_t apply_growth(const GrowingFile& file, std::span<const DatasetGrowth> changes);

/// Returns the reason why the shape of a dataset cannot change; empty if it can.
base::Rejection growth_rejection(const HdfDataset& dataset);

}  // namespace plait::container::hdf5
