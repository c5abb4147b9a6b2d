// Detection of arrays that share memory.
//
// Parts of arrays are boxes with strides. Two of them can share bytes only if their address ranges overlap, so the
// parts are sorted by their first byte, and each one is compared with the earlier ones whose ranges are still open.
// Only such pairs need the exact test (base::share_memory).
//
// Example: ranges [0, 100), [50, 80) and [90, 120). The second one is compared with the first. The third range begins
// at 90, where the second one has ended (at 80), so it is compared with the first only.

#include "core/redistribution/apart.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/overlap.hpp"
#include "base/text.hpp"

namespace plait::core {

namespace {

/// The part of a local array that a call reads or fills.
struct Part {
  std::int64_t rank = 0;
  bool filled = false;
  const std::byte* first = nullptr;
  Extents shape;
  std::span<const std::int64_t> strides;
  std::int64_t element_bytes = 0;
  base::Bounds bounds;

  base::MemoryBox box() const { return {first, shape, strides, element_bytes}; }
};

/// A box of the whole array; all of it without an origin.
struct ArrayBox {
  std::span<const std::int64_t> origin;
  std::span<const std::int64_t> shape;
};

class Parts {
 public:
  explicit Parts(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

  void add(const Layout& layout, std::span<const copy::LocalArray> arrays, bool filled, bool halos,
           const ArrayBox& moved) {
    for (const copy::LocalArray& array : arrays) {
      Part part{array.rank, filled, array.data, {}, array.strides, element_bytes_, {}};
      if (halos || (moved.origin.empty() && !layout.has_halo())) {
        part.shape = layout.padded_shape(array.rank);
      } else {
        narrow(part, layout, moved);
      }
      part.bounds = base::find_bounds(part.box());
      if (!part.bounds.empty()) parts_.push_back(std::move(part));
    }
  }

  void check() {
    for (const Part& part : parts_)
      if (part.filled && base::overlaps_itself(part.box()))
        base::throw_argument_error(
            "the array of rank ", part.rank,
            " that is to be filled has elements that share memory; pass one in which each element has "
            "bytes of its own");
    std::sort(parts_.begin(), parts_.end(), [](auto& a, auto& b) { return a.bounds.low < b.bounds.low; });
    std::vector<const Part*> open;  // parts that end after the beginning of the next one
    for (const Part& part : parts_) {
      std::erase_if(open, [&](const Part* before) { return before->bounds.high <= part.bounds.low; });
      for (const Part* before : open)
        if ((part.filled || before->filled) && base::share_memory(part.box(), before->box()))
          throw_shared(part, *before);
      open.push_back(&part);
    }
  }

 private:
  [[noreturn]] static void throw_shared(const Part& a, const Part& b) {
    if (a.filled && b.filled)
      base::throw_argument_error("the arrays of ranks ", std::min(a.rank, b.rank), " and ", std::max(a.rank, b.rank),
                                 " that are to be filled share memory; pass arrays that lie apart");
    base::throw_argument_error(
        "the target array of rank ", a.filled ? a.rank : b.rank, " shares memory with the source array of rank ",
        a.filled ? b.rank : a.rank,
        ", whose elements would be overwritten before they have been moved; pass another target, or a "
        "copy of the source");
  }

  /// Narrows a part to the elements of a box that its rank owns. Elements with smaller indices come before them in the
  /// local array.
  static void narrow(Part& part, const Layout& layout, const ArrayBox& moved) {
    const std::vector<IndexSet> sets = layout.index_sets(part.rank);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < sets.size(); ++d) {
      const std::int64_t before = moved.origin.empty() ? 0 : sets[d].count_below(moved.origin[d]);
      const std::int64_t end =
          moved.origin.empty() ? sets[d].size() : sets[d].count_below(moved.origin[d] + moved.shape[d]);
      part.shape.push_back(end - before);
      offset += (layout.halo(static_cast<int>(d)).lo + before) * part.strides[d];
    }
    if (std::find(part.shape.begin(), part.shape.end(), 0) == part.shape.end()) part.first += offset;
  }

  std::int64_t element_bytes_;
  std::vector<Part> parts_;
};

}  // namespace

void check_filled(const Layout& layout, std::span<const copy::LocalArray> arrays, bool halos,
                  std::int64_t element_bytes) {
  Parts parts(element_bytes);
  parts.add(layout, arrays, true, halos, {});
  parts.check();
}

void check_moved(const plan::Pairs& pairs, std::span<const copy::LocalArray> from, std::span<const copy::LocalArray> to,
                 std::int64_t element_bytes) {
  const plan::SectionPair& section = pairs.section();
  Parts parts(element_bytes);
  parts.add(pairs.source(), from, false, false, {section.source_origin, section.shape});
  parts.add(pairs.target(), to, true, pairs.fill_halo(), {section.target_origin, section.shape});
  parts.check();
}

}  // namespace plait::core
