// Arrays whose shape changes while they are open.
//
// Problem: readers of other programs must find the array as it was, or as it is in the end, never elements that are not
// in the file yet.
//
// Idea: only this File has the new shape at first. The ranks write the new elements, which are outside of the shape in
// the file. close() makes them durable and then changes that shape (DeferredChanges::commit()). A smaller shape takes
// effect at once, because its elements are all in the file.
// Example: an array 5x4 in the file. append() of 2x4 makes the File's array 7x4 and writes rows 5 and 6. A program that
// opens the array meanwhile finds 5x4. After close() it finds 7x4. resize() from 7x4 to 3x6 first reduces the file's
// array to 3x4, and then extends that of the File to 3x6.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/collective.hpp"
#include "core/file/file_impl.hpp"

namespace plait {

namespace {

/// Returns the shape of the array after a block has been appended to it.  errors  kArgument: the block does not fit.
Extents extended_shape(const std::string& path, const Extents& shape, const Extents& block, std::int64_t axis) {
  const auto dimensions = static_cast<std::int64_t>(shape.size());
  if (axis < -dimensions || axis >= dimensions)
    base::throw_argument_error(path, ": append() along axis ", axis, ", but the array has ", dimensions,
                               " dimensions; give one of them");
  const auto along = static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis);  // as in Python
  Extents extended = shape;
  bool fits = block.size() == shape.size();
  for (std::size_t d = 0; fits && d < shape.size(); ++d) fits = d == along || block[d] == shape[d];
  if (!fits)
    base::throw_argument_error(path, ": append() of a block of shape ", shape_to_string(block), " along axis ", along,
                               " of an array of shape ", shape_to_string(shape),
                               "; the sizes must be equal in all other dimensions");
  if (__builtin_add_overflow(shape[along], block[along], &extended[along]))
    base::throw_argument_error(path, ": append() would make dimension ", along, " longer than 2^63 - 1");
  return extended;
}

/// Returns the region by which the array has grown from the shape `before` to the shape `after`, in one dimension.
Region appended_region(const Extents& before, const Extents& after) {
  Region region;
  for (std::size_t d = 0; d < after.size(); ++d) {
    const std::int64_t start = after[d] != before[d] ? before[d] : 0;
    region.push_back({start, after[d] - start, /*stride=*/1, /*single=*/false});
  }
  return region;
}

}  // namespace

void File::Impl::check_extensible() const {
  const Mode mode = context_.mode();
  if (mode != Mode::kAppend && mode != Mode::kWrite)
    base::throw_argument_error(context_.path(), " is open with mode \"", core::mode_name(mode),
                               "\"; open it with mode \"a\" to change its shape");
  if (selection_.array().type.has_texts())
    base::throw_argument_error(context_.path(), " cannot grow: its elements are texts of any length");
  if (!storage_.has_dataset() || selection_.has_members() || storage_.shape_changes() == nullptr)
    base::throw_argument_error(
        context_.path(),
        mode == Mode::kWrite
            ? " cannot grow while it is new; close it, and open it with mode \"a\", if it is an HDF5, netCDF or .npy "
              "file; only new Zarr arrays grow"
            : " cannot grow: its shape does not change in place; write an array in a Zarr folder, an HDF5 or netCDF "
              "file with an unlimited dimension, or a .npy file, and append to that");
}

void File::Impl::set_shape(const Extents& shape) {
  storage_.mark_written();  // also if this rank fails: close() must take the same path on all ranks
  storage_.set_dataset(storage_.shape_changes()->with_shape(shape));
  selection_.update_shape(shape);
}

void File::Impl::set_shape_together(collective::Collective& call, const Extents& shape) {
  const Extents before = selection_.array().type.shape;
  try {
    call.run_phase([&] {
      if (shape != before) set_shape(shape);
    });
  } catch (const Error&) {
    // One rank may have failed alone, for example the one that knows the header. All must have the same shape.
    if (storage_.is_open() && selection_.array().type.shape != before) set_shape(before);
    throw;
  }
}

void File::Impl::append(const Layout& layout, const std::vector<MutablePart>& parts, std::int64_t axis,
                        const base::RecordedCall& call) {
  storage_.check_open();
  const Extents before = selection_.array().type.shape;
  Extents after;
  storage_.call_together([&](transport::Transport& transport) {
    collective::Collective together(
        transport, [&] { return base::text("append(", to_string(layout), ", axis ", axis, ") to ", context_.name()); },
        [&] {
          check_extensible();
          after = extended_shape(context_.path(), before, layout.shape(), axis);
        });
    set_shape_together(together, after);
  });
  if (after == before) return;
  try {
    const Region region = appended_region(before, after);
    access({layout, region, core::Action::kWrite, parts}, call);
  } catch (const Error&) {
    // The elements may be incomplete, so that no reader must find them.
    if (storage_.is_open()) set_shape(before);
    throw;
  }
}

void File::Impl::resize(const Extents& shape) {
  storage_.check_open();
  storage_.call_together([&](transport::Transport& transport) {
    const Extents before = selection_.array().type.shape;
    Extents common = before;
    collective::Collective call(
        transport, [&] { return base::text("resize(", shape_to_string(shape), ") of ", context_.name()); },
        [&] {
          check_extensible();
          if (shape.size() != before.size() || std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; }))
            base::throw_argument_error(context_.path(), ": resize(", shape_to_string(shape), ") of an array of shape ",
                                       shape_to_string(before),
                                       "; give as many sizes as it has dimensions, each 0 or more");
        });
    for (std::size_t d = 0; d < common.size(); ++d) common[d] = std::min(common[d], shape[d]);
    const bool is_first = transport.rank() == 0;
    if (common != before) {
      call.run_phase([&] {
        if (is_first) storage_.shape_changes()->reduce(common);
      });
      set_shape_together(call, common);
    }
    if (shape == common) return;
    call.run_phase([&] {
      if (is_first) storage_.shape_changes()->clear_outside();
    });
    set_shape_together(call, shape);
  });
}

}  // namespace plait
