// Changing chunks: new chunks and a new index are appended, and one write of 8 bytes makes them visible.
//
// Problem: a compressed chunk that changes has another size and does not fit in its former space. If the program is
// killed, the file must have either the former chunks or the new ones.
//
// Idea: nothing that the file refers to is overwritten. New chunks go to a log after the end of the file (ChunkLog),
// followed by a new index. Two fields of the metadata change, in this order: the length of the file in the superblock,
// then the address of the index in the dataset's object header. The file is synced before each of the two, so that a
// field never refers to bytes that are not on the disk.
//
// Example: the superblock states a length of 10,000 bytes. Chunk 5, of two dimensions, is compressed to 300 bytes.
//    10,000  header of 32 bytes, then chunk 5 from 10,032 to 10,332
//    10,336  the index, aligned to 8 bytes: one node of 2,616 bytes, for all chunks
//    sync; length = 12,952; sync; address of the index = 10,336
//
// Arrays of texts change in the same way. Their elements of 16 bytes refer to collections of texts, which are appended
// to the log, too. The elements of a contiguous array are first copied to the end of the file, and all ranks write to
// the copy. Example: one of 100 texts changes. The elements are copied to 10,000..11,599, and the log begins at 11,600.
// Its first entry is a collection, with a header at 11,600 and 4,096 bytes from 11,632 on. Its second entry at 15,728
// is only a header, which records that the elements have been written. Then length = 15,760, and the address of the
// elements = 10,000.
//
// A kill before the first field leaves bytes after the end that the superblock states; the next writer overwrites
// them. A kill between the fields leaves unused space. After the second field all readers see chunk 5 at offset 10,032.

#include "container/hdf5/changing/changed_dataset.hpp"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <random>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/chunks/chunk_pieces.hpp"
#include "container/hdf5/changing/file_locking.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "container/hdf5/texts/heap_texts.hpp"
#include "container/hdf5/writing/chunk_tree.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using store::WriteSegment;

/// Returns the first multiple of 8 from `offset` on.
std::int64_t align(std::int64_t offset) { return offset + (8 - offset % 8) % 8; }

/// A batch of writes, which complete() passes to write_chunk() chunk by chunk.
class PendingChange : public store::Pending {
 public:
  PendingChange(ChangedDataset& dataset, std::int64_t chunk_bytes, std::vector<WriteSegment> segments)
      : dataset_(dataset), chunk_bytes_(chunk_bytes), segments_(std::move(segments)) {}
  void complete() override {
    PartsOfChunk together(
        [this](std::int64_t number, std::span<const WriteSegment> parts) { dataset_.write_chunk(number, parts); });
    for (const WriteSegment& segment : segments_)
      for_each_chunk(chunk_bytes_, segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                       together.add(number, {within, segment.data + done, bytes});
                     });
    together.finish();
  }

 private:
  ChangedDataset& dataset_;
  std::int64_t chunk_bytes_;
  std::vector<WriteSegment> segments_;
};

}  // namespace

void ChangedDataset::adopt_locked_file(std::shared_ptr<ChangedFile> locked_file) {
  const HdfDataset& opened = dataset();
  // Another program may have changed the dataset between its description and the lock.
  if (const HdfDataset current = HdfFile(file(), file().name()).describe_dataset(opened.path);
      current.header != opened.header || encode_dataset(current) != encode_dataset(opened))
    base::throw_system_error(EBUSY, name(), " has been changed by another program while it was opened; open it again");
  changed_file_ = std::move(locked_file);
}

void ChangedDataset::begin_changes() {
  HdfDataset& opened = mutable_dataset();
  check_changeable(opened.relocation);
  adopt_locked_file(std::make_shared<ChangedFile>(shared_file(), name()));
  ChangedState& state = changed_file_->state();
  state.fields = find_fields(file(), opened.header);
  check_changeable(state.fields.rejection);
  state.old_length = read_number(file(), state.fields.length);
  state.old_index = read_number(file(), state.fields.index);
  begin_log(static_cast<std::int64_t>(state.old_length), /*grows=*/false);
}

void ChangedDataset::begin_log(std::int64_t begin, bool grows) {
  // Draw a random mark, because bytes after the end may be headers that a killed program has left.
  std::random_device draw;
  const std::uint64_t mark = std::uint64_t{draw()} << 32 | draw();
  begin = align(begin);
  if (HdfDataset& opened = mutable_dataset(); opened.storage == Storage::kContiguous && !grows) {
    copy_elements(begin);
    opened.offset = std::exchange(begin, align(begin + size()));
  }
  mutable_dataset().changes = UncommittedChanges{begin, mark, grows};
}

void ChangedDataset::copy_elements(std::int64_t offset) {
  constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20U;
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(size(), kPieceBytes)));
  for (std::int64_t done = 0; done < size(); done += kPieceBytes) {
    const std::int64_t bytes = std::min(size() - done, kPieceBytes);
    file().read({{dataset().offset + done, piece.data(), bytes}});
    file().write({{offset + done, piece.data(), bytes}});
  }
}

void ChangedDataset::share(std::unique_ptr<transport::Counter> counter, bool is_only_writer) {
  const UncommittedChanges& changes = *dataset().changes;
  log_ = std::make_shared<ChunkLog>(shared_file(), changes.begin, changes.mark);
  log_->share(std::move(counter), is_only_writer);
}

std::unique_ptr<store::Pending> ChangedDataset::submit_read(std::vector<store::ReadSegment> segments) {
  // No rank writes while others read. An entry without a header therefore means that a write has failed.
  if (log_ && !log_->is_complete())
    base::throw_system_error(EIO, "cannot read ", name(),
                             ": an earlier write of it has failed; open it again, as it was");
  return DatasetStore::submit_read(std::move(segments));
}

std::int64_t ChangedDataset::append_heap(std::span<const std::byte> collection) {
  if (!log_) base::throw_argument_error(name(), ": cannot write texts to a file that is open for reading; use mode r+");
  return log_->append_heap(collection);
}

std::unique_ptr<store::Pending> ChangedDataset::submit_write(std::vector<WriteSegment> segments) {
  if (!is_being_changed()) return DatasetStore::submit_write(std::move(segments));
  if (dataset().storage == Storage::kContiguous) {
    // Append an entry without bytes, from which the rank that commits knows that some rank has written.
    if (!is_growing()) std::call_once(first_write_, [this] { log_->append(0, {}); });
    return DatasetStore::submit_write(std::move(segments));
  }
  for (const WriteSegment& segment : segments) check_range(segment.offset, segment.bytes);
  return std::make_unique<PendingChange>(*this, DatasetStore::chunk_bytes(), std::move(segments));
}

void ChangedDataset::write_chunk(std::int64_t number, std::span<const WriteSegment> parts) {
  // While the shape grows, writes change only elements outside the stored shape, which readers do not see. Chunks
  // without filters can therefore be written in place.
  if (is_growing() && dataset().filters.empty()) {
    log_->read_new_headers();
    if (const std::optional<Chunk> chunk = find_chunk(number)) {
      std::vector<WriteSegment> pieces;
      for (const WriteSegment& part : parts) pieces.push_back({chunk->offset + part.offset, part.data, part.bytes});
      return file().write(pieces);
    }
  }
  open_.write(number, parts);
}

std::optional<Chunk> ChangedDataset::find_chunk(std::int64_t number) const {
  if (log_)
    if (const std::optional<Chunk> changed = log_->find_last(number)) return changed;
  return DatasetStore::find_chunk(number);
}

void ChangedDataset::fill_chunk(std::int64_t /*number*/, std::span<std::byte> chunk) const {
  fill({0, chunk.data(), static_cast<std::int64_t>(chunk.size())});
}

void ChangedDataset::read_old(std::int64_t number, std::span<std::byte> chunk) {
  log_->read_new_headers();
  const std::optional<Chunk> old = find_chunk(number);
  old ? decode_chunk(*old, chunk) : fill_chunk(number, chunk);
}

void ChangedDataset::put(std::int64_t number, std::span<const std::byte> chunk) {
  const std::uint32_t filter_mask = decode_only_mask(dataset().filters);
  std::vector<std::byte> texts;
  if (!dataset().missing_text.empty()) {
    texts.assign(chunk.begin(), chunk.end());
    store_fill_texts(texts);
    chunk = texts;
  }
  log_->append(number, make_chain(dataset().filters, filter_mask).encode(chunk), filter_mask);
}

void ChangedDataset::store_fill_texts(std::span<std::byte> elements) {
  const std::vector<std::byte>& marker = dataset().fill;  // missing_text_element()
  const std::scoped_lock lock(stored_fill_mutex_);
  for (std::size_t at = 0; at < elements.size(); at += marker.size()) {
    const std::span<std::byte> element = elements.subspan(at, marker.size());
    if (!std::ranges::equal(element, marker)) continue;
    if (stored_fill_.empty())
      stored_fill_ = HeapTexts(file(), name(), 0, {}, [this](std::span<const std::byte> collection) {
                       return append_heap(collection);
                     }).add_texts(TextBlock(std::span(&dataset().missing_text, 1)));
    std::ranges::copy(stored_fill_, element.begin());
  }
}

void ChangedDataset::flush() {
  if (!log_) return;
  log_->write_missing_headers();
  open_.flush();
}

void ChangedDataset::discard_buffered() noexcept {
  open_.discard();
  if (log_) log_->write_missing_headers();
}

void ChangedDataset::check_not_open_elsewhere() const {
  // Do not open the file by the library for this check: it would cut off the bytes after the end in the superblock.
  if (!uses_file_locks()) return;
  const bool is_open_elsewhere = ::flock(changed_file_->descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  // Only a check: get the shared lock back.
  (void)::flock(changed_file_->descriptor(), LOCK_SH | LOCK_NB);
  if (is_open_elsewhere)
    base::throw_system_error(
        EBUSY, name(),
        ": its attributes cannot be changed while another program has the file open; close it there, and "
        "change them again");
}

void ChangedDataset::commit() {
  if (is_growing()) return commit_growth();
  std::vector<Chunk> chunks = log_->list_chunks();
  if (!chunks.empty() && dataset().storage == Storage::kContiguous) {
    commit_fields(log_->end(), dataset().offset);
  } else if (!chunks.empty()) {
    // If both lists have a chunk, set_union() takes it from the first one.
    std::vector<Chunk> all_chunks;
    std::ranges::set_union(chunks, dataset().chunks, std::back_inserter(all_chunks), {}, &Chunk::number,
                           &Chunk::number);
    const std::int64_t tree_offset = align(log_->end());
    const ChunkTree tree = make_tree(dataset(), all_chunks, tree_offset);
    const auto tree_bytes = static_cast<std::int64_t>(tree.nodes.size());
    file().write({{tree_offset, tree.nodes.data(), tree_bytes}});
    commit_fields(tree_offset + tree_bytes, tree.root);
  }
  changed_file_.reset();
}

void ChangedDataset::commit_fields(std::int64_t end, std::int64_t index) {
  const ChangedState& state = changed_file_->state();
  file().sync();  // before each field: a field must never refer to bytes that are not on the disk
  if (read_number(file(), state.fields.length) != state.old_length ||
      read_number(file(), state.fields.index) != state.old_index)
    base::throw_system_error(EBUSY, name(),
                             " has been changed by another program meanwhile; what was written here is not in it");
  write_number(file(), state.fields.length, static_cast<std::uint64_t>(end));
  file().sync();
  write_number(file(), state.fields.index, static_cast<std::uint64_t>(index));
}

}  // namespace plait::container::hdf5
