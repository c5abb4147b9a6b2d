// Conversion of the caller's buffers into local arrays, with checks of their sizes.
//
// Example: a process that is alone passes doubles in `10 (block) onto (3)`. The ranks 0, 1 and 2 have 4, 4 and 2
// elements, so the dense buffer has 80 bytes, and the arrays begin at its bytes 0, 32 and 64.

#include "local_arrays.hpp"

#include <cstddef>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "core/comm/local_arrays.hpp"
#include "handle.hpp"

namespace plait::c {

namespace {

std::int64_t dense_bytes(const Layout& layout, std::int64_t rank, std::int64_t element_bytes) {
  const std::int64_t elements = base::checked_product(layout.padded_shape(rank), "elements of a local array");
  return base::checked_multiply(elements, element_bytes, "bytes of a local array");
}

/// Returns the bytes from an array's first element to the end of the one at the highest address.
std::int64_t count_span_bytes(const Layout& layout, std::int64_t rank, const Extents& strides,
                              std::int64_t element_bytes) {
  const Extents shape = layout.padded_shape(rank);
  std::int64_t bytes = element_bytes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return 0;
    if (strides[d] <= 0) continue;
    bytes = base::checked_add(bytes, base::checked_multiply(shape[d] - 1, strides[d], "bytes of a local array"),
                              "bytes of a local array");
  }
  return bytes;
}

void check_capacity(std::int64_t capacity, std::int64_t needed, const std::string& owner) {
  if (capacity == PLAIT_UNKNOWN) return;
  if (capacity < 0)
    plait::base::throw_argument_error(owner, " has ", capacity, " bytes; give their number, or PLAIT_UNKNOWN");
  if (capacity < needed)
    plait::base::throw_argument_error(owner, " has ", capacity, " bytes, but needs ", needed, "; make it larger");
}

void check_element_bytes(std::int64_t element_bytes) {
  if (element_bytes < 1)
    plait::base::throw_argument_error("an element cannot have ", element_bytes, " bytes; give 1 or more");
}

std::string ranks_text(const std::vector<std::int64_t>& ranks, const Layout& layout) {
  if (ranks.size() == 1) return base::text("rank ", ranks[0], " of ", to_string(layout));
  return base::text("the ranks of ", to_string(layout));
}

template <typename Byte, typename Void>
std::vector<ArrayPart<Byte>> make_dense_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                              const DenseArray<Void>& array) {
  const std::vector<std::int64_t> ranks = list_local_ranks(layout, comm);
  const std::int64_t needed = count_local_bytes(layout, ranks, element_bytes);
  if (array.data == nullptr && needed > 0)
    plait::base::throw_argument_error(array.name, " is NULL, but ", ranks_text(ranks, layout), " need",
                                      ranks.size() == 1 ? "s " : " ", needed, " bytes; pass the local array");
  check_capacity(array.bytes, needed, base::text(array.name, ", for ", ranks_text(ranks, layout), ','));
  std::vector<ArrayPart<Byte>> parts;
  auto* next_array = static_cast<Byte*>(array.data);
  for (const std::int64_t rank : ranks) {
    parts.push_back({next_array, {}});
    if (next_array != nullptr) next_array += dense_bytes(layout, rank, element_bytes);
  }
  return parts;
}

template <typename Byte, typename Part>
std::vector<ArrayPart<Byte>> make_listed_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                               const PartList<Part>& list) {
  check_element_bytes(element_bytes);
  if (list.count < 0 || (list.count > 0 && list.parts == nullptr))
    plait::base::throw_argument_error(list.name, list.parts == nullptr ? " is NULL" : " are listed",
                                      ", but there are to be ", list.count, "; pass as many as this process has");
  const std::vector<std::int64_t> ranks = list_local_ranks(layout, comm);
  if (static_cast<std::size_t>(list.count) != ranks.size())
    plait::base::throw_argument_error(list.name, ": ", list.count, " local arrays were given, but this process holds ",
                                      ranks.size(), " of the layout ", to_string(layout));
  std::vector<ArrayPart<Byte>> result;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Part& part = list.parts[i];
    Extents strides;
    if (part.strides != nullptr) strides.assign(part.strides, part.strides + layout.dimensions());
    const std::int64_t needed = part.strides == nullptr ? dense_bytes(layout, ranks[i], element_bytes)
                                                        : count_span_bytes(layout, ranks[i], strides, element_bytes);
    if (part.data == nullptr && needed > 0)
      plait::base::throw_argument_error(list.name, ": the local array of rank ", ranks[i], " is NULL, but has ", needed,
                                        " bytes");
    check_capacity(part.bytes, needed, base::text(list.name, ": the local array of rank ", ranks[i]));
    result.push_back({static_cast<Byte*>(part.data), std::move(strides)});
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> list_local_ranks(const Layout& layout, const Comm& comm) {
  core::check_ranks(layout, comm);
  return core::ranks_held(layout, comm);
}

std::int64_t count_local_bytes(const Layout& layout, const std::vector<std::int64_t>& ranks,
                               std::int64_t element_bytes) {
  check_element_bytes(element_bytes);
  std::int64_t bytes = 0;
  for (const std::int64_t rank : ranks)
    bytes = base::checked_add(bytes, dense_bytes(layout, rank, element_bytes), "bytes of the local arrays");
  return bytes;
}

std::vector<MutablePart> dense_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                     const DenseArray<void>& array) {
  return make_dense_parts<std::byte>(layout, comm, element_bytes, array);
}

std::vector<ConstPart> dense_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                   const DenseArray<const void>& array) {
  return make_dense_parts<const std::byte>(layout, comm, element_bytes, array);
}

std::vector<MutablePart> listed_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                      const PartList<plait_part>& list) {
  return make_listed_parts<std::byte>(layout, comm, element_bytes, list);
}

std::vector<ConstPart> listed_parts(const Layout& layout, const Comm& comm, std::int64_t element_bytes,
                                    const PartList<plait_const_part>& list) {
  return make_listed_parts<const std::byte>(layout, comm, element_bytes, list);
}

}  // namespace plait::c
