// Layouts of the C interface.

#include <algorithm>

#include "base/errors.hpp"
#include "local_arrays.hpp"
#include "objects.hpp"
#include "options.hpp"

using namespace plait::c;
using plait::Extents;
using plait::Layout;

namespace {

/// Stores numbers if all of them fit.
template <typename Values, typename Number>
void store_numbers(const Values& values, std::int64_t capacity, Number* numbers, const char* name) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (capacity < count)
    plait::base::throw_argument_error(name, " has room for ", capacity, " numbers, but there are ", count,
                                      "; make it larger");
  if (count > 0) std::copy(values.begin(), values.end(), &output(numbers, name));
}

Extents to_index(const Layout& layout, const int64_t* index, const char* name) {
  if (layout.dimensions() == 0) return {};
  const int64_t* first = &dereference(index, name, "one number for each dimension");
  return {first, first + layout.dimensions()};
}

plait_status parse(const char* text, const Extents* shape, plait_layout** layout) {
  if (layout != nullptr) *layout = nullptr;
  return guarded(nullptr, [&] {
    plait_layout*& result = output(layout, "layout");
    const std::string spelling = to_text(text, "text");
    result = new plait_layout(shape == nullptr ? Layout::parse(spelling) : Layout::parse(spelling, *shape));
  });
}

}  // namespace

plait_status plait_layout_parse(const char* text, plait_layout** layout) { return parse(text, nullptr, layout); }

plait_status plait_layout_parse_shape(const char* text, int dimensions, const int64_t* shape, plait_layout** layout) {
  if (layout != nullptr) *layout = nullptr;
  Extents extents;
  const plait_status status = guarded(nullptr, [&] { extents = to_extents(shape, dimensions, "shape"); });
  return status == PLAIT_OK ? parse(text, &extents, layout) : status;
}

plait_status plait_layout_free(plait_layout** layout) { return free_handle(layout); }

plait_status plait_layout_text(const plait_layout* layout, char** text) {
  if (text != nullptr) *text = nullptr;
  return guarded(layout, [&] { store_text(text, "text", [&] { return to_string(to_layout(layout)); }); });
}

plait_status plait_layout_equal(const plait_layout* layout, const plait_layout* other, int* equal) {
  return guarded(layout, [&] {
    const bool same = to_layout(layout) == to_layout(other, "other");
    output(equal, "equal") = same ? 1 : 0;
  });
}

plait_status plait_layout_dimensions(const plait_layout* layout, int* dimensions) {
  return guarded(layout, [&] { output(dimensions, "dimensions") = to_layout(layout).dimensions(); });
}

plait_status plait_layout_shape(const plait_layout* layout, int capacity, int64_t* shape) {
  return guarded(layout, [&] { store_numbers(to_layout(layout).shape(), capacity, shape, "shape"); });
}

plait_status plait_layout_elements(const plait_layout* layout, int64_t* elements) {
  return guarded(layout, [&] { output(elements, "elements") = to_layout(layout).elements(); });
}

plait_status plait_layout_ranks(const plait_layout* layout, int64_t* ranks, int64_t* ranks_end) {
  return guarded(layout, [&] {
    const Layout& layout_object = to_layout(layout);
    if (ranks != nullptr) *ranks = layout_object.size();
    if (ranks_end != nullptr) *ranks_end = layout_object.ranks_end();
  });
}

plait_status plait_layout_has_rank(const plait_layout* layout, int64_t rank, int* has_rank) {
  return guarded(layout, [&] { output(has_rank, "has_rank") = to_layout(layout).has_rank(rank) ? 1 : 0; });
}

plait_status plait_layout_rank_numbers(const plait_layout* layout, int64_t capacity, int64_t* numbers) {
  return guarded(layout, [&] { store_numbers(to_layout(layout).rank_numbers(), capacity, numbers, "numbers"); });
}

plait_status plait_layout_local_shape(const plait_layout* layout, int64_t rank, int capacity, int64_t* shape) {
  return guarded(layout, [&] { store_numbers(to_layout(layout).local_shape(rank), capacity, shape, "shape"); });
}

plait_status plait_layout_padded_shape(const plait_layout* layout, int64_t rank, int capacity, int64_t* shape) {
  return guarded(layout, [&] { store_numbers(to_layout(layout).padded_shape(rank), capacity, shape, "shape"); });
}

plait_status plait_layout_order(const plait_layout* layout, int capacity, int* order) {
  return guarded(layout, [&] { store_numbers(to_layout(layout).order(), capacity, order, "order"); });
}

plait_status plait_layout_indices(const plait_layout* layout, int64_t rank, int dimension, int64_t capacity,
                                  int64_t* indices) {
  return guarded(layout, [&] {
    const Layout& layout_object = to_layout(layout);
    if (dimension < 0 || dimension >= layout_object.dimensions())
      plait::base::throw_argument_error("dimension ", dimension, " of a layout with ", layout_object.dimensions(),
                                        "; they begin with 0");
    const plait::IndexSet set = layout_object.index_sets(rank)[static_cast<std::size_t>(dimension)];
    const std::int64_t count = set.size();
    if (capacity < count)
      plait::base::throw_argument_error("indices has room for ", capacity, " numbers, but rank ", rank, " owns ", count,
                                        " indices of dimension ", dimension, "; make it larger");
    if (count == 0) return;
    int64_t* out = &output(indices, "indices");
    for (std::int64_t at = set.next(set.begin); at < set.end; at = set.next(at)) {
      const std::int64_t end = set.run_end(at);
      while (at < end) *out++ = at++;
    }
  });
}

plait_status plait_layout_owners(const plait_layout* layout, const int64_t* index, int64_t capacity, int64_t* owners,
                                 int64_t* count) {
  return guarded(layout, [&] {
    const Layout& layout_object = to_layout(layout);
    const std::vector<std::int64_t> ranks = layout_object.owners(to_index(layout_object, index, "index"));
    if (owners != nullptr || capacity != 0) store_numbers(ranks, capacity, owners, "owners");
    if (owners == nullptr || count != nullptr) output(count, "count") = static_cast<std::int64_t>(ranks.size());
  });
}

plait_status plait_layout_to_local(const plait_layout* layout, const int64_t* index, int64_t rank, int64_t* local) {
  return guarded(layout, [&] {
    const Layout& layout_object = to_layout(layout);
    store_numbers(layout_object.to_local(to_index(layout_object, index, "index"), rank), layout_object.dimensions(),
                  local, "local");
  });
}

plait_status plait_layout_to_global(const plait_layout* layout, const int64_t* local, int64_t rank, int64_t* index) {
  return guarded(layout, [&] {
    const Layout& layout_object = to_layout(layout);
    store_numbers(layout_object.to_global(to_index(layout_object, local, "local"), rank), layout_object.dimensions(),
                  index, "index");
  });
}

plait_status plait_layout_held(const plait_layout* layout, const plait_comm* comm, int64_t element_bytes,
                               int64_t* arrays, int64_t* bytes) {
  return guarded(layout, [&] {
    const Layout& layout_object = to_layout(layout);
    const std::vector<std::int64_t> ranks = list_local_ranks(layout_object, to_comm(comm));
    const std::int64_t capacity = count_local_bytes(layout_object, ranks, element_bytes);
    if (arrays != nullptr) *arrays = static_cast<std::int64_t>(ranks.size());
    if (bytes != nullptr) *bytes = capacity;
  });
}
