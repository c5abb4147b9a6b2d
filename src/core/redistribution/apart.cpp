// Detection of arrays that share memory.
//
// Parts of arrays are boxes with strides. Two of them can share bytes only if their address ranges overlap, so the
// parts are sorted by their first byte, and each one is compared with the earlier ones whose ranges end after its
// beginning. Only such pairs need the exact test (base::share_memory).
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
  bool is_filled = false;
  const std::byte* first = nullptr;
  Extents shape;
  std::span<const std::int64_t> strides;
  std::int64_t element_bytes = 0;
  base::Bounds bounds;

  base::MemoryBox box() const { return {first, shape, strides, element_bytes}; }
};

/// A box of the whole array. An empty origin stands for the whole array itself.
struct ArrayBox {
  std::span<const std::int64_t> origin;
  std::span<const std::int64_t> shape;
};

/// The parts of local arrays that one call reads or fills.
class Parts {
 public:
  explicit Parts(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

  /// Adds local arrays. box: the elements that are read or filled; with_halos: true if the halos are filled as well.
  void add(const Layout& layout, std::span<const copy::LocalArray> arrays, bool is_filled, bool with_halos,
           const ArrayBox& box) {
    for (const copy::LocalArray& array : arrays) {
      Part part{array.rank, is_filled, array.data, {}, array.strides, element_bytes_, {}};
      if (with_halos || (box.origin.empty() && !layout.has_halo())) {
        part.shape = layout.padded_shape(array.rank);
      } else {
        restrict_to_box(part, layout, box);
      }
      part.bounds = base::find_bounds(part.box());
      if (!part.bounds.empty()) parts_.push_back(std::move(part));
    }
  }

  /// errors  kArgument: elements that are filled share memory with others.
  void check() {
    for (const Part& part : parts_)
      if (part.is_filled && base::overlaps_itself(part.box()))
        base::throw_argument_error(
            "the array of rank ", part.rank,
            " that is to be filled has elements that share memory; pass one in which each element has "
            "bytes of its own");
    std::sort(parts_.begin(), parts_.end(), [](auto& a, auto& b) { return a.bounds.low < b.bounds.low; });
    std::vector<const Part*> open_parts;  // parts that end after the beginning of the next one
    for (const Part& part : parts_) {
      std::erase_if(open_parts, [&](const Part* before) { return before->bounds.high <= part.bounds.low; });
      for (const Part* before : open_parts)
        if ((part.is_filled || before->is_filled) && base::share_memory(part.box(), before->box()))
          throw_shared(part, *before);
      open_parts.push_back(&part);
    }
  }

 private:
  [[noreturn]] static void throw_shared(const Part& a, const Part& b) {
    if (a.is_filled && b.is_filled)
      base::throw_argument_error("the arrays of ranks ", std::min(a.rank, b.rank), " and ", std::max(a.rank, b.rank),
                                 " that are to be filled share memory; pass arrays that lie apart");
    base::throw_argument_error(
        "the target array of rank ", a.is_filled ? a.rank : b.rank, " shares memory with the source array of rank ",
        a.is_filled ? b.rank : a.rank,
        ", whose elements would be overwritten before they have been moved; pass another target, or a "
        "copy of the source");
  }

  /// Restricts a part to the elements of a box that its rank owns: their shape, and the address of the first one, which
  /// follows the elements with smaller indices in the local array.
  static void restrict_to_box(Part& part, const Layout& layout, const ArrayBox& box) {
    const std::vector<IndexSet> sets = layout.index_sets(part.rank);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < sets.size(); ++d) {
      const std::int64_t before = box.origin.empty() ? 0 : sets[d].count_below(box.origin[d]);
      const std::int64_t end = box.origin.empty() ? sets[d].size() : sets[d].count_below(box.origin[d] + box.shape[d]);
      part.shape.push_back(end - before);
      offset += (layout.halo(static_cast<int>(d)).lo + before) * part.strides[d];
    }
    if (std::find(part.shape.begin(), part.shape.end(), 0) == part.shape.end()) part.first += offset;
  }

  std::int64_t element_bytes_;
  std::vector<Part> parts_;
};

}  // namespace

void check_filled(const Layout& layout, std::span<const copy::LocalArray> arrays, bool with_halos,
                  std::int64_t element_bytes) {
  Parts parts(element_bytes);
  parts.add(layout, arrays, /*is_filled=*/true, with_halos, {});
  parts.check();
}

void check_moved(const plan::Pairs& pairs, std::span<const copy::LocalArray> from, std::span<const copy::LocalArray> to,
                 std::int64_t element_bytes) {
  const plan::SectionPair& section = pairs.section();
  Parts parts(element_bytes);
  parts.add(pairs.source(), from, /*is_filled=*/false, /*with_halos=*/false, {section.source_origin, section.shape});
  parts.add(pairs.target(), to, /*is_filled=*/true, pairs.fill_halo(), {section.target_origin, section.shape});
  parts.check();
}

}  // namespace plait::core
