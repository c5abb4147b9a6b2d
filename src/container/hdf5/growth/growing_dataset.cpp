// A dataset whose shape changes while it is open.
//
// Problem: readers must see the former shape until all elements are in the file, and a program may be killed at any
// moment.
//
// Idea: new chunks, and compressed chunks that change, are appended to the log of changes (ChunkLog). Chunks without
// filters that are in the file already are written in place: append() changes only elements outside of the shape in the
// file, which readers do not see. commit_shape() changes the shape and the index through a journal. The numbers of
// chunks depend on the shape, so that every change of the shape renumbers the chunks of the log.
//
// Example: shape (5, 7), chunks (2, 3): a grid of 3x3, in which chunk (1, 2) has number 5. After with_shape(5, 10) the
// grid is 3x4, and the chunk has number 6.
//
// The metadata that the library writes is stored after the chunks of the log. If the same File calls append() again,
// the log continues after this metadata.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/changing/changed_dataset.hpp"
#include "container/hdf5/growth/dataset_creation.hpp"
#include "container/hdf5/growth/dataset_growth.hpp"
#include "container/hdf5/growth/growth_group.hpp"
#include "container/hdf5/growth/overlay.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

namespace {

/// Converts numbers of chunks in one grid to those in another.
class Renumbering {
 public:
  Renumbering(Extents from, Extents to) : from_(std::move(from)), to_(std::move(to)) {}
  /// Returns the number; -1 if the chunk is outside of the grid.
  std::int64_t operator()(std::int64_t number) const {
    std::int64_t renumbered = 0;
    std::int64_t stride = 1;
    for (std::size_t d = from_.size(); d-- > 0; number /= from_[d]) {
      const std::int64_t index = number % from_[d];
      if (index >= to_[d]) return -1;
      renumbered += index * stride;
      stride *= to_[d];
    }
    return renumbered;
  }

 private:
  Extents from_;
  Extents to_;
};

/// Sets the shape of a dataset, and renumbers its chunks.
void set_shape(HdfDataset& dataset, const Extents& shape) {
  const Extents former = dataset.grid();
  dataset.type.shape = shape;
  const Renumbering renumber(former, dataset.grid());
  for (Chunk& chunk : dataset.chunks) chunk.number = renumber(chunk.number);
  std::erase_if(dataset.chunks, [](const Chunk& chunk) { return chunk.number < 0; });
}

/// Sets the elements of a chunk that are outside of `shape` to the fill value. Returns true if any has changed.
/// first: the index in the array of the chunk's first element.
bool clear_chunk(const HdfDataset& dataset, const Extents& first, const Extents& shape, std::span<std::byte> chunk) {
  const std::span<const std::byte> fill = dataset.fill;
  bool has_changed = false;
  Extents index(dataset.chunk.size());  // in the chunk, of the element at `begin`
  // If the elements of the file are arrays, `fill` is one such array, and its dimensions are the last of the chunk.
  const std::int64_t elements_per_fill = static_cast<std::int64_t>(fill.size()) / dataset.type.element_bytes;
  for (std::size_t begin = 0; begin < chunk.size(); begin += fill.size()) {
    bool is_inside = true;
    for (std::size_t d = 0; d < index.size(); ++d) is_inside = is_inside && first[d] + index[d] < shape[d];
    if (!is_inside && std::memcmp(chunk.data() + begin, fill.data(), fill.size()) != 0) {
      std::memcpy(chunk.data() + begin, fill.data(), fill.size());
      has_changed = true;
    }
    std::int64_t carry = elements_per_fill;
    for (std::size_t d = index.size(); d-- > 0 && carry > 0;) {
      index[d] += carry;
      carry = index[d] / dataset.chunk[d];
      index[d] %= dataset.chunk[d];
    }
  }
  return has_changed;
}

/// A file that is locked for changes of the shapes of its datasets. If it has a group, the lock belongs to the group.
struct LockedFile {
  std::shared_ptr<GrowthGroup> group;
  std::shared_ptr<const void> exclusive_token;
  std::shared_ptr<ChangedFile> file;
};

LockedFile lock_file(const std::shared_ptr<store::Store>& store, const std::string& name) {
  LockedFile locked;
  locked.group = GrowthGroup::find(store->name());
  if (locked.group) locked.exclusive_token = locked.group->begin_dataset(name);
  locked.file = locked.group ? locked.group->file(store, name) : std::make_shared<ChangedFile>(store, name);
  return locked;
}

/// Returns the offset from which on new bytes may be written.
/// what: the failure in the error message, as in "cannot grow".
/// errors  kArgument: the file cannot be changed in this way.
std::int64_t find_free_offset(ChangedFile& file, const std::string& name, const char* what) {
  ChangedState& state = file.state();
  state.fields = find_length(file.file());
  if (state.fields.rejection)
    base::throw_argument_error(name, ' ', what, ": ", state.fields.rejection.reason(),
                               "; copy it to a new file by h5repack");
  state.old_length = read_number(file.file(), state.fields.length);
  return std::max(static_cast<std::int64_t>(state.old_length), state.free_offset);
}

}  // namespace

std::shared_ptr<ChangedDataset> ChangedDataset::begin_growth() {
  LockedFile locked = lock_file(shared_file(), name());
  adopt_locked_file(locked.file);
  begin_log(find_free_offset(*changed_file_, name(), "cannot grow"), /*grows=*/true);
  HdfDataset description = dataset();
  if (!description.stored_shape.empty()) {
    const Extents stored = std::exchange(description.stored_shape, {});
    description.missing.clear();
    set_shape(description, stored);
  }
  auto state = std::make_shared<GrowthState>(
      GrowthState{description.type.shape, std::move(locked.group), std::move(locked.exclusive_token)});
  auto growing = std::make_shared<ChangedDataset>(shared_file(), std::move(description), name());
  growing->changed_file_ = changed_file_;
  growing->growth_state_ = std::move(state);
  return growing;
}

void ChangedDataset::begin_creation(DatasetCreation creation) {
  // As in assign_offsets() for new files: elements begin at a page, or at a cache line if they are fewer bytes than a
  // page.
  constexpr std::int64_t kPageBytes = 4096;
  constexpr std::int64_t kCacheLineBytes = 64;
  LockedFile locked = lock_file(shared_file(), name());
  changed_file_ = locked.file;
  std::int64_t begin = find_free_offset(*changed_file_, name(), "cannot be added");
  HdfDataset& description = mutable_dataset();
  const bool is_contiguous = description.storage == Storage::kContiguous;
  if (is_contiguous) {
    // Begin after the end of the file: a killed program may have left bytes after the end that the superblock states,
    // but elements that no rank writes must be zero.
    begin = std::max(begin, file().size());
    const std::int64_t alignment = size() < kPageBytes ? kCacheLineBytes : kPageBytes;
    description.offset = begin = (begin + alignment - 1) / alignment * alignment;
    if (size() > 0) creation.offset = begin;
    begin = base::checked_add(begin, size(), "bytes of the file");
  }
  {
    // Create the dataset in an overlay that is discarded, so that an impossible creation fails here and not in
    // commit().
    const Library hdf5;
    Overlay discarded(changed_file_->descriptor(), begin);
    description.path = create_dataset(hdf5, discarded, changed_file_->path(), creation);
  }
  if (is_contiguous && ::ftruncate(changed_file_->descriptor(), begin) != 0)
    base::throw_system_error(errno, name(), " cannot be added: the file cannot be extended");
  // The fill value of a scalar must be written; larger arrays with a fill value have chunks.
  if (is_contiguous && description.type.shape.empty() && !creation.member.fill.empty())
    file().write({{description.offset, creation.member.fill.data(), size()}});
  begin_log(begin, /*grows=*/true);
  growth_state_ = std::make_shared<GrowthState>(
      GrowthState{Extents(description.type.shape.size(), 0), std::move(locked.group), std::move(locked.exclusive_token),
                  std::make_shared<const DatasetCreation>(std::move(creation))});
}

std::shared_ptr<ChangedDataset> ChangedDataset::with_shape(const Extents& shape) {
  HdfDataset changed = dataset();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_element_dimension = d >= changed.stored_dimensions() && shape[d] != changed.type.shape[d];
    if (shape[d] > changed.max_shape[d] || is_element_dimension)
      base::throw_argument_error(name(), " cannot get the shape ", shape_to_string(shape), ": its dimension ", d,
                                 is_element_dimension ? " belongs to the elements, with " : " has at most ",
                                 changed.max_shape[d],
                                 " elements; give another shape, or copy it to a new file in "
                                 "which this dimension is unlimited");
  }
  const Extents former = changed.grid();
  set_shape(changed, shape);
  if (!array_bytes(shape, changed.type.element_bytes) || !changed.chunks_fit())
    base::throw_argument_error(name(), ": an array of shape ", shape_to_string(shape),
                               " would have more than 2^63 - 1 bytes");
  const Renumbering renumber(former, changed.grid());
  auto reshaped = std::make_shared<ChangedDataset>(shared_file(), std::move(changed), name());
  if (log_) log_->renumber(renumber);
  reshaped->log_ = log_;
  reshaped->changed_file_ = changed_file_;
  reshaped->growth_state_ = growth_state_;
  return reshaped;
}

void ChangedDataset::clear_outside(const Extents& shape) {
  log_->read_new_headers();
  const Extents grid = dataset().grid();
  std::vector<std::int64_t> numbers;
  for (const Chunk& chunk : dataset().chunks) numbers.push_back(chunk.number);
  for (const Chunk& chunk : log_->list_chunks()) numbers.push_back(chunk.number);
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  std::vector<std::byte> bytes;  // of one chunk
  const bool is_smaller = shape != dataset().type.shape;
  for (const std::int64_t number : numbers) {
    Extents first(grid.size());
    bool begins_inside = true;
    bool ends_outside = false;
    std::int64_t remaining = number;  // the number among the chunks of the dimensions up to d
    for (std::size_t d = grid.size(); d-- > 0; remaining /= grid[d]) {
      first[d] = remaining % grid[d] * dataset().chunk[d];
      begins_inside = begins_inside && first[d] < shape[d];
      ends_outside = ends_outside || first[d] + dataset().chunk[d] > shape[d];
    }
    if (!begins_inside || !ends_outside) continue;
    bytes.resize(static_cast<std::size_t>(DatasetStore::chunk_bytes()));
    read_old(number, bytes);
    if (!clear_chunk(dataset(), first, shape, bytes)) continue;
    // If the array shrinks, readers must see its elements until the shape has changed: store the chunk elsewhere.
    const auto size = static_cast<std::int64_t>(bytes.size());
    const store::WriteSegment whole{0, bytes.data(), size};
    is_smaller ? put(number, bytes) : write_chunk(number, {&whole, 1});
  }
  flush();
}

void ChangedDataset::reduce(const Extents& shape) {
  clear_outside(shape);
  Extents stored = growth_state_->shape;
  for (std::size_t d = 0; d < stored.size(); ++d) stored[d] = std::min(stored[d], shape[d]);
  if (stored == growth_state_->shape) return;
  file().sync();
  commit_shape(stored);
}

void ChangedDataset::commit_shape(const Extents& shape) {
  std::vector<Chunk> chunks = log_->list_chunks();
  // An earlier commit has entered the chunks within its shape: only the others are new.
  std::erase_if(chunks, [&](const Chunk& chunk) { return is_in_index(dataset(), chunk); });
  if (chunks.empty() && shape == growth_state_->shape && !growth_state_->creation) return;
  const bool is_chunked = dataset().storage == Storage::kChunks;
  DatasetGrowth growth = is_chunked ? make_growth(dataset(), growth_state_->shape, chunks, shape)
                                    : DatasetGrowth{dataset().path, nullptr, {}, shape, {}};
  growth.end = log_->written_end();
  if (growth_state_->creation) {
    DatasetCreation creation = *growth_state_->creation;
    creation.member.type.shape = shape;
    if (creation.offset > 0) growth.end = std::max(growth.end, creation.offset + size());
    growth.creation = std::make_shared<const DatasetCreation>(std::move(creation));
  }
  // Leave space for one header, by which other ranks skip the metadata that follows the log (skip_to()).
  const std::int64_t free_offset = log_->end() + ChunkLog::kHeaderBytes;
  if (growth_state_->group) {
    growth_state_->group->add(std::move(growth), free_offset);
  } else {
    changed_file_->state().free_offset = free_offset;
    apply_exclusively(*changed_file_, name(), {&growth, 1});
    if (changed_file_->state().free_offset > free_offset) log_->skip_to(changed_file_->state().free_offset);
  }
  if (is_chunked) update_index(mutable_dataset(), chunks, shape);
  growth_state_->shape = shape;
  growth_state_->creation = nullptr;
}

void ChangedDataset::commit_growth() {
  commit_shape(dataset().type.shape);
  if (growth_state_->group) {
    growth_state_->group->finish_dataset();
    growth_state_->exclusive_token.reset();
  } else {
    changed_file_.reset();  // unlocks the file, because attributes are changed afterwards
  }
}

}  // namespace plait::container::hdf5
