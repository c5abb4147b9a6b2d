// Small reads of one process without a plan.
//
// Problem: a plan, its strategies and its windows cost about 15 us, which is more than ten times as long as a read of a
// row of a cached file. Programs that index a file in a loop make many such reads.
//
// Idea: each part of the region (each chunk of an array in chunks, otherwise the whole region) is a nest of loops over
// its elements. Join the fastest loops as long as the gaps between their elements in the file are short. The bytes that
// the joined loops span are a stretch, which one segment of the request covers. A stretch without gaps is read straight
// into the result. Other stretches are read into scratch memory, from which the elements are copied. All segments are
// one request to the store, unless the scratch memory is too small for all of them.
//
// Example: [10:30, 40:60:2] of 1000x1000 doubles. A row has 10 elements, 16 bytes apart: a stretch of 152 bytes with
// gaps of 8 bytes. The rows are 8000 bytes apart, and a gap of 7848 bytes takes longer than another segment. So there
// are 20 segments of 152 bytes, into 3040 bytes of scratch memory, and 20 copies of 10 elements.

#include "core/file/small/small_read.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "collective/stopwatch.hpp"
#include "copy/strided_copy.hpp"
#include "core/file/file_impl.hpp"

namespace plait::core {

namespace {

/// Maximum number of segments of a read, and of chunks that it touches.
constexpr std::int64_t kMaxSegments = 1024;
constexpr std::int64_t kMaxChunks = 64;
/// Maximum bytes of scratch memory: the C library allocates so few bytes without a system call.
constexpr std::int64_t kMaxScratchBytes = 96 << 10;
/// Maximum gap that a stretch covers: copying as many bytes takes as long as another request to a file, or as finding
/// another run in a decompressed chunk.
constexpr std::int64_t kMaxFileGapBytes = 4 << 10;
constexpr std::int64_t kMaxChunkGapBytes = 64;

/// A loop over elements of the file and of the result; strides are in bytes.
struct Loop {
  std::int64_t count = 1;
  std::int64_t file_stride = 0;
  std::int64_t result_stride = 0;
};

/// The elements of a box: loops of two or more iterations, the fastest one in the file first.
struct Box {
  std::int64_t offset = 0;      // offset of the first element in the store
  std::byte* result = nullptr;  // address of the first element
  std::vector<Loop> loops;
};

/// Reads boxes by few requests.
class BoxReader {
 public:
  BoxReader(store::Store& store, std::int64_t element_bytes, std::int64_t max_gap)
      : store_(store), element_bytes_(element_bytes), max_gap_(max_gap) {}

  /// Adds the stretches of a box to the request.  Returns false if these are too many.
  bool add(const Box& box);
  /// Reads the stretches that were added, and copies the elements of those with gaps to the result.
  void finish();

 private:
  /// A stretch with gaps, and the copy of its elements.
  struct Stretch {
    std::size_t segment = 0;
    std::byte* result = nullptr;
    std::size_t loops = 0;  // index in loops_
  };

  store::Store& store_;
  std::int64_t element_bytes_;
  std::int64_t max_gap_;
  std::int64_t segment_count_ = 0;  // number of segments so far
  std::int64_t scratch_bytes_ = 0;  // scratch memory for the current request
  std::vector<store::ReadSegment> segments_;
  std::vector<Stretch> stretches_;
  std::vector<std::vector<copy::Loop>> loops_;  // copy loops of the stretches of each box
};

bool BoxReader::add(const Box& box) {
  std::int64_t bytes = element_bytes_;  // length of a stretch
  bool is_dense = true;                 // a stretch has no gaps, neither in the file nor in the result
  std::size_t joined_loops = 0;
  std::vector<copy::Loop> inner;
  for (; joined_loops < box.loops.size(); ++joined_loops) {
    const Loop& loop = box.loops[joined_loops];
    const std::int64_t gap = loop.file_stride - bytes;
    if (gap > max_gap_) break;
    const bool stays_dense = is_dense && gap == 0 && loop.result_stride == bytes;
    const std::int64_t extended_bytes = (loop.count - 1) * loop.file_stride + bytes;
    if (!stays_dense && extended_bytes > kMaxScratchBytes) break;
    is_dense = stays_dense;
    bytes = extended_bytes;
    inner.push_back({loop.count, loop.file_stride, loop.result_stride});
  }
  // The other loops repeat the stretch: each combination of their iterations is one segment.
  const std::span<const Loop> outer = std::span(box.loops).subspan(joined_loops);
  std::int64_t count = 1;
  for (const Loop& loop : outer) count = std::min(count * loop.count, kMaxSegments + 1);
  segment_count_ += count;
  if (segment_count_ > kMaxSegments) return false;
  if (!is_dense) loops_.push_back(std::move(inner));
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t offset = box.offset;
    std::byte* result = box.result;
    std::int64_t remaining = k;
    for (const Loop& loop : outer) {
      offset += remaining % loop.count * loop.file_stride;
      result += remaining % loop.count * loop.result_stride;
      remaining /= loop.count;
    }
    if (!is_dense) {
      if (scratch_bytes_ + bytes > kMaxScratchBytes) finish();
      stretches_.push_back({segments_.size(), result, loops_.size() - 1});
      scratch_bytes_ += bytes;
    }
    segments_.push_back({offset, is_dense ? result : nullptr, bytes});
  }
  return true;
}

void BoxReader::finish() {
  if (stretches_.empty()) return store_.read(std::move(segments_));
  const auto scratch = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(scratch_bytes_));
  std::int64_t used_bytes = 0;
  for (const Stretch& stretch : stretches_) {
    segments_[stretch.segment].data = scratch.get() + used_bytes;
    used_bytes += segments_[stretch.segment].bytes;
  }
  store_.read(segments_);
  for (const Stretch& stretch : stretches_)
    copy::strided_copy(stretch.result, segments_[stretch.segment].data, element_bytes_, loops_[stretch.loops],
                       copy::Destination::kCaches);
  scratch_bytes_ = 0;
  segments_.clear();
  stretches_.clear();
}

/// Returns the strides of the result in bytes. The result is dense, in the order of the file.
Extents result_strides(const plan::Section& section, std::int64_t element_bytes) {
  Extents strides(section.shape.size());
  std::int64_t stride = element_bytes;
  for (std::size_t d = strides.size(); d-- > 0; stride *= section.shape[d]) strides[d] = stride;
  return strides;
}

/// Returns the loops over the elements of a box, the fastest one first, without those of one iteration.
std::vector<Loop> make_loops(const Extents& shape, const Extents& file_strides, const Extents& result_strides,
                             std::int64_t element_bytes) {
  std::vector<Loop> loops;
  for (std::size_t d = shape.size(); d-- > 0;)
    if (shape[d] != 1) loops.push_back({shape[d], file_strides[d] * element_bytes, result_strides[d]});
  return loops;
}

/// Adds the parts of the section in all chunks.  Returns false if these are too many.
bool add_chunks(BoxReader& reader, const SelectedArray& array, const plan::Section& section, std::byte* data) {
  const std::int64_t bytes = array.type.element_bytes;
  const Extents strides = result_strides(section, bytes);
  if (section.chunks->count() > kMaxChunks) return false;
  for (std::int64_t number = 0; number < section.chunks->count(); ++number) {
    const plan::ChunkPart part = section.chunks->part(number);
    std::byte* first = data;
    for (std::size_t d = 0; d < strides.size(); ++d) first += part.lo[d] * strides[d];
    if (!reader.add(
            {array.data_offset + part.file * bytes, first, make_loops(part.shape, part.strides, strides, bytes)}))
      return false;
  }
  return true;
}

/// Returns true if reads of the array need no plan: the caller has chosen no strategy and little memory limits no plan.
bool may_skip_plan(const SelectedArray& array) {
  return array.options.strategy == plan::Strategy::kAutomatic && !array.type.has_texts() &&
         (array.options.memory_bytes == 0 || array.options.memory_bytes >= kMaxSmallRead);
}

/// Adds all elements of a region.  Returns false if it is not small.
bool add_region(BoxReader& reader, const SelectedArray& array, const Region& region, std::span<std::byte> data) {
  const plan::Section section = array.section(region);
  const std::int64_t bytes = array.type.element_bytes;
  if (section.elements == 0 || section.elements > kMaxSmallRead / bytes) return false;
  if (section.elements * bytes != static_cast<std::int64_t>(data.size())) return false;
  if (section.chunks) return add_chunks(reader, array, section, data.data());
  return reader.add({array.data_offset + section.origin * bytes, data.data(),
                     make_loops(section.shape, section.strides, result_strides(section, bytes), bytes)});
}

}  // namespace

bool read_small(File& file, const Region& region, std::span<std::byte> data) {
  File::Impl& impl = *file.impl_;
  const base::RecordedCall call;
  if (call.is_recorded() || !impl.context().comm().alone()) return false;
  bool is_read = false;
  impl.context().call([&] {
    const SelectedArray& array = impl.selection().array();
    const std::shared_ptr<store::Store>& store = impl.storage().store();
    if (!impl.storage().is_open() || store == nullptr || !may_skip_plan(array)) return;
    try {
      const collective::ElapsedTime since_start;
      BoxReader reader(*store, array.type.element_bytes, array.whole_chunks ? kMaxChunkGapBytes : kMaxFileGapBytes);
      if (!add_region(reader, array, region, data)) return;
      reader.finish();
      const double seconds = 1e-9 * static_cast<double>(since_start.nanoseconds());
      impl.set_times({seconds, 0, 0, seconds});
      is_read = true;
    } catch (const Error& error) {
      if (error.system_code() == EINTR) throw;  // Ctrl-C
      is_read = false;                          // File::read() reports the error
    } catch (const std::bad_alloc&) {
      is_read = false;  // File::read() may need less memory
    }
  });
  return is_read;
}

}  // namespace plait::core
