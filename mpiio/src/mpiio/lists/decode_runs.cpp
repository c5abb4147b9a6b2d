// Decodes datatypes to trees of runs.
//
// Problem: programs select irregular parts of files and memory by lists of blocks, by structures, and by types inside
// other types. The flat list of all runs of such a type can be much longer than the arguments of the calls that made
// it: 100 arrays in succession, of which each rank has 1000 rows, have 100000 runs.
//
// Idea: a tree has the same structure as the calls. Its leaves are lists of runs, and the other nodes repeat one child
// at regular distances or group children at offsets. Nodes that are contiguous with their neighbours are merged.
//
// Example: MPI_Type_create_hindexed of the lengths (2, 3, 1) at the bytes (0, 8, 40) of MPI_INT is a list of two runs,
// 20 bytes at 0 and 4 bytes at 40, because the second block begins where the first one ends.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "mpiio/lists/run_builders.hpp"
#include "mpiio/type_contents.hpp"

namespace plait::mpiio {

namespace {

constexpr int kMaxDepth = 32;  ///< of types inside types; the MPI carries out accesses of deeper ones

/// Selects elements of a dimension: `full` blocks at a distance of `period` elements, and the first `rest` elements of
/// one more.
struct Selection {
  std::int64_t start = 0;
  std::int64_t block = 0;
  std::int64_t full = 1;
  std::int64_t period = 0;
  std::int64_t rest = 0;
};

Runs select(const Runs& element, std::int64_t element_bytes, const Selection& selection) {
  const auto in_bytes = [&](std::int64_t elements) { return checked_product(elements, element_bytes); };
  const Runs block = repeat_checked(element, selection.block, element_bytes);
  GroupBuilder group;
  group.add(in_bytes(selection.start), repeat_checked(block, selection.full, in_bytes(selection.period)));
  group.add(in_bytes(checked_sum(selection.start, checked_product(selection.full, selection.period))),
            repeat_checked(element, selection.rest, element_bytes));
  return group.finish();
}

/// Selects parts of all dimensions.
Runs select_box(Runs element, std::int64_t element_bytes, const Extents& shape, Order order,
                const std::vector<Selection>& selections) {
  std::int64_t unit = element_bytes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = order == Order::kC ? shape.size() - 1 - i : i;
    element = select(element, unit, selections[d]);
    unit = checked_product(unit, shape[d]);
  }
  return element;
}

Runs make_subarray(const Subarray& array, const Runs& element, std::int64_t element_bytes) {
  std::vector<Selection> selections;
  for (std::size_t d = 0; d < array.shape.size(); ++d)
    selections.push_back({.start = array.starts[d], .block = array.sizes[d]});
  return select_box(element, element_bytes, array.shape, array.order, selections);
}

Selection find_selection(const Darray& array, std::size_t d, std::int64_t coordinate) {
  const std::int64_t size = array.shape[d];
  const std::int64_t parts = array.grid[d];
  if (array.kinds[d] == MPI_DISTRIBUTE_NONE) return {.start = 0, .block = size};
  const bool is_cyclic = array.kinds[d] == MPI_DISTRIBUTE_CYCLIC;
  std::int64_t block = array.arguments[d];
  if (block == MPI_DISTRIBUTE_DFLT_DARG) block = is_cyclic ? 1 : (size + parts - 1) / parts;
  if (block <= 0 || parts <= 0) return {};
  const std::int64_t period = checked_product(block, parts);
  const std::int64_t start = checked_product(block, coordinate);
  const std::int64_t rest = std::clamp(size % period - start, std::int64_t{0}, block);
  const bool is_rest_whole = rest == block;
  return {.start = start,
          .block = block,
          .full = size / period + (is_rest_whole ? 1 : 0),
          .period = period,
          .rest = is_rest_whole ? 0 : rest};
}

Runs make_darray(const Darray& array, const Runs& element, std::int64_t element_bytes) {
  std::vector<Selection> selections(array.shape.size());
  std::int64_t rest = array.rank;
  for (std::size_t i = array.shape.size(); i-- > 0; rest /= array.grid[i])
    selections[i] = find_selection(array, i, rest % array.grid[i]);
  return select_box(element, element_bytes, array.shape, array.order, selections);
}

/// Decodes one type, and the types in it.
class RunDecoder {
 public:
  Runs decode(MPI_Datatype type, int depth);
  Runs decode(MPI_Datatype type, const Contents& contents, int depth);

 private:
  Runs decode_named(MPI_Datatype type) const;
  Runs decode_vector(const Contents& contents, bool in_bytes, int depth);
  Runs decode_list(const Contents& contents, bool in_bytes, bool has_lengths, int depth);
  Runs decode_struct(const Contents& contents, int depth);
};

Runs RunDecoder::decode_named(MPI_Datatype type) const {
  const std::int64_t bytes = data_bytes(type);
  const TypeExtent whole = extent(type);
  if (bytes < 0 || whole.begin != 0) return nullptr;
  if (bytes == whole.bytes) return make_run(bytes);
  // The index of this pair begins after a gap.
  if (type == MPI_SHORT_INT) {
    struct ShortInt {
      short value;
      int index;
    };
    ListBuilder list(2);
    list.add(0, sizeof(short));
    list.add(offsetof(ShortInt, index), sizeof(int));
    return list.finish();
  }
  // The index of these pairs follows the value without a gap; the gap is at the end.
  const std::array<MPI_Datatype, 3> pairs{MPI_DOUBLE_INT, MPI_LONG_INT, MPI_LONG_DOUBLE_INT};
  return std::ranges::find(pairs, type) != pairs.end() ? make_run(bytes) : nullptr;
}

Runs RunDecoder::decode_vector(const Contents& contents, bool in_bytes, int depth) {
  Arguments arguments(contents);
  const std::int64_t count = arguments.size();
  const std::int64_t length = arguments.size();
  std::int64_t distance = 0;
  if (in_bytes && !contents.has_counts()) {
    if (contents.addresses().empty()) return nullptr;
    distance = contents.addresses().front();
  } else {
    distance = arguments.size();
  }
  if (!arguments.is_complete()) return nullptr;
  const std::int64_t unit = extent(contents.base()).bytes;
  if (!in_bytes) distance = checked_product(distance, unit);
  return repeat_checked(repeat_checked(decode(contents.base(), depth), length, unit), count, distance);
}

Runs RunDecoder::decode_list(const Contents& contents, bool in_bytes, bool has_lengths, int depth) {
  const BlockList blocks(contents, in_bytes, has_lengths);
  if (!blocks.is_complete() || contents.base() == MPI_DATATYPE_NULL) return nullptr;
  const std::int64_t unit = extent(contents.base()).bytes;
  const std::int64_t scale = in_bytes ? 1 : unit;
  // Most bases are types of the MPI without holes, of which no node is needed.
  const bool is_element = is_predefined(contents.base()) && data_bytes(contents.base()) == unit;
  const Runs base = is_element ? nullptr : decode(contents.base(), depth);
  if (!is_element && !base) return nullptr;
  const bool is_dense = is_element || (is_one_run(*base) && base->bytes == unit);
  const std::int64_t begin = is_element ? 0 : base->begin;
  ListBuilder list(is_dense ? blocks.size() : 0);
  GroupBuilder group;
  Runs block;
  std::int64_t block_length = -1;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::int64_t length = blocks.length(i);
    const std::int64_t offset = checked_product(blocks.offset(i), scale);
    if (is_dense) {
      list.add(checked_sum(offset, begin), checked_product(length, unit));
      continue;
    }
    if (length != block_length) block = repeat_checked(base, length, unit);
    block_length = length;
    group.add(offset, block);
  }
  return is_dense ? list.finish() : group.finish();
}

Runs RunDecoder::decode_struct(const Contents& contents, int depth) {
  const BlockList blocks(contents, /*in_bytes=*/true, /*has_lengths=*/true);
  const std::span<const MPI_Datatype> types = contents.types();
  if (!blocks.is_complete() || types.size() != blocks.size()) return nullptr;
  GroupBuilder group;
  MPI_Datatype decoded = MPI_DATATYPE_NULL;
  Runs base;
  std::int64_t unit = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i == 0 || types[i] != decoded) {
      base = decode(types[i], depth);
      unit = extent(types[i]).bytes;
      decoded = types[i];
    }
    group.add(blocks.offset(i), repeat_checked(base, blocks.length(i), unit));
  }
  return group.finish();
}

Runs RunDecoder::decode(MPI_Datatype type, int depth) {
  return type == MPI_DATATYPE_NULL ? nullptr : decode(type, Contents(type), depth);
}

Runs RunDecoder::decode(MPI_Datatype type, const Contents& contents, int depth) {
  if (depth > kMaxDepth || !contents.is_known()) return nullptr;
  if (contents.envelope().is_predefined()) return decode_named(type);
  const MPI_Datatype base = contents.base();
  ++depth;
  switch (contents.envelope().combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return decode(base, depth);
    case MPI_COMBINER_CONTIGUOUS:
      return repeat_checked(decode(base, depth), Arguments(contents).size(), extent(base).bytes);
    case MPI_COMBINER_VECTOR: return decode_vector(contents, /*in_bytes=*/false, depth);
    case MPI_COMBINER_HVECTOR: return decode_vector(contents, /*in_bytes=*/true, depth);
    case MPI_COMBINER_INDEXED_BLOCK: return decode_list(contents, /*in_bytes=*/false, /*has_lengths=*/false, depth);
    case MPI_COMBINER_HINDEXED_BLOCK: return decode_list(contents, /*in_bytes=*/true, /*has_lengths=*/false, depth);
    case MPI_COMBINER_INDEXED: return decode_list(contents, /*in_bytes=*/false, /*has_lengths=*/true, depth);
    case MPI_COMBINER_HINDEXED: return decode_list(contents, /*in_bytes=*/true, /*has_lengths=*/true, depth);
    case MPI_COMBINER_STRUCT: return decode_struct(contents, depth);
    case MPI_COMBINER_SUBARRAY: {
      const std::optional<Subarray> array = read_subarray(contents);
      return array ? make_subarray(*array, decode(base, depth), extent(base).bytes) : nullptr;
    }
    case MPI_COMBINER_DARRAY: {
      const std::optional<Darray> array = read_darray(contents);
      return array ? make_darray(*array, decode(base, depth), extent(base).bytes) : nullptr;
    }
    default: return nullptr;
  }
}

Runs make_array_runs(const ArrayDatatype& type) {
  if (const auto* dense = std::get_if<Dense>(&type)) return make_run(dense->bytes);
  if (const auto* array = std::get_if<Darray>(&type))
    return make_darray(*array, make_run(array->element_bytes), array->element_bytes);
  if (const auto* array = std::get_if<Subarray>(&type))
    return make_subarray(*array, make_run(array->element_bytes), array->element_bytes);
  const auto* strided = std::get_if<Strided>(&type);
  if (strided == nullptr) return nullptr;
  Runs runs = make_run(strided->block);
  for (std::size_t i = strided->levels.size(); i-- > 0;)
    runs = repeat_checked(runs, strided->levels[i].count, strided->levels[i].stride);
  return shift_runs(runs, strided->begin);
}

/// Returns nullptr for runs past 2^62 bytes.
template <class Make>
Runs make_or_none(const Make& make) {
  try {
    return make();
  } catch (const std::overflow_error&) {
    return nullptr;
  }
}

}  // namespace

Runs decode_runs(MPI_Datatype type) {
  return make_or_none([&] { return RunDecoder().decode(type, 0); });
}

Runs make_runs(const ArrayDatatype& type) {
  return make_or_none([&] { return make_array_runs(type); });
}

Runs repeat_runs(const Runs& runs, std::int64_t count, std::int64_t stride) {
  return make_or_none([&] { return repeat_checked(runs, count, stride); });
}

}  // namespace plait::mpiio
