// Decodes datatypes by their envelopes.
//
// Problem: the typemap of a distributed array lists each contiguous piece, of which a row-cyclic array of 5000x5000 has
// millions. The call that made the type says the same in a few numbers, and MPI returns its arguments.
//
// Example: MPI_Type_contiguous(3, T) of T = MPI_Type_dup(MPI_DOUBLE) has the envelope CONTIGUOUS with the integer 3 and
// the datatype T, whose envelope is DUP with MPI_DOUBLE, which is NAMED. The result is Dense with 24 bytes.
//
// Types that were made by functions with _c have their sizes in a list of large counts instead of the integers.

#include "mpiio/datatype.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "mpiio/type_contents.hpp"

namespace plait::mpiio {

namespace {

/// Repeats a type `count` times at a distance of so many bytes; std::monostate if the result is not regular.
ArrayDatatype repeat(const ArrayDatatype& base, std::int64_t count, std::int64_t distance) {
  std::int64_t span = 0;
  if (count < 0 || __builtin_mul_overflow(distance, count, &span)) return {};
  if (const auto* dense = std::get_if<Dense>(&base)) {
    if (count == 0 || dense->bytes == 0) return Dense{};
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(dense->bytes, count, &bytes)) return {};
    if (count == 1 || distance == dense->bytes) return Dense{bytes};
    if (distance < dense->bytes) return {};
    return Strided{.begin = 0, .block = dense->bytes, .levels = {{count, distance}}};
  }
  if (count == 1) return base;
  const auto* strided = std::get_if<Strided>(&base);
  if (strided == nullptr || count == 0) return {};
  Strided repeated = *strided;
  if (repeated.levels.empty()) {
    if (distance < repeated.block) return {};
    repeated.levels.push_back({count, distance});
    return repeated;
  }
  Strided::Level& first = repeated.levels.front();
  std::int64_t inner = 0;  // bytes from the first block to where the next one of the outermost level would begin
  if (__builtin_mul_overflow(first.count, first.stride, &inner)) return {};
  if (distance == inner) return __builtin_mul_overflow(first.count, count, &first.count) ? ArrayDatatype() : repeated;
  if (distance < inner || distance % first.stride != 0) return {};
  repeated.levels.insert(repeated.levels.begin(), {count, distance});
  return repeated;
}

/// Blocks of `length` instances of a type, each at a distance from the one before.
ArrayDatatype repeat_blocks(MPI_Datatype type, std::int64_t length, std::int64_t count, std::int64_t distance) {
  return repeat(repeat(decode(type), length, extent(type).bytes), count, distance);
}

ArrayDatatype decode_vector(const Contents& contents, bool in_bytes) {
  Arguments arguments(contents);
  const std::int64_t count = arguments.size();
  const std::int64_t length = arguments.size();
  std::int64_t distance = 0;
  if (in_bytes && !contents.has_counts()) {
    if (contents.addresses().empty()) return {};
    distance = contents.addresses().front();
  } else {
    distance = arguments.size();
  }
  if (!in_bytes && __builtin_mul_overflow(distance, extent(contents.base()).bytes, &distance)) return {};
  return arguments.is_complete() ? repeat_blocks(contents.base(), length, count, distance) : ArrayDatatype();
}

/// Decodes blocks at listed offsets, if these are at regular distances. All blocks have one length, which the lists of
/// some calls state for each.
ArrayDatatype decode_list(const Contents& contents, bool in_bytes, bool has_lengths) {
  const BlockList blocks(contents, in_bytes, has_lengths);
  if (!blocks.is_complete() || blocks.size() == 0) return {};
  std::int64_t distance = 0;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    std::int64_t next = 0;
    if (__builtin_sub_overflow(blocks.offset(i), blocks.offset(i - 1), &next)) return {};
    if (i == 1) distance = next;
    if (next != distance || blocks.length(i) != blocks.length(0)) return {};
  }
  const std::int64_t unit = in_bytes ? 1 : extent(contents.base()).bytes;
  std::int64_t begin = 0;
  if (__builtin_mul_overflow(blocks.offset(0), unit, &begin) || __builtin_mul_overflow(distance, unit, &distance))
    return {};
  ArrayDatatype found =
      repeat_blocks(contents.base(), blocks.length(0), static_cast<std::int64_t>(blocks.size()), distance);
  if (begin == 0) return found;
  if (const auto* dense = std::get_if<Dense>(&found); dense != nullptr && dense->bytes > 0)
    found = Strided{.begin = 0, .block = dense->bytes, .levels = {}};
  auto* strided = std::get_if<Strided>(&found);
  if (strided == nullptr || begin < 0) return {};
  if (__builtin_add_overflow(strided->begin, begin, &strided->begin)) return {};
  return found;
}

ArrayDatatype decode_resized(MPI_Datatype type, const Contents& contents) {
  ArrayDatatype base = decode(contents.base());
  const TypeExtent resized = extent(type);
  if (resized.begin != 0) return {};
  const auto* dense = std::get_if<Dense>(&base);
  if (dense == nullptr || dense->bytes == resized.bytes) return base;
  if (dense->bytes == 0 || dense->bytes > resized.bytes) return {};
  return Strided{.begin = 0, .block = dense->bytes, .levels = {}};
}

/// Adds the bytes of the elements to a subarray or darray; nothing if the elements have holes.
template <class Array>
ArrayDatatype with_elements(std::optional<Array> array, MPI_Datatype element) {
  const ArrayDatatype base = decode(element);
  const auto* dense = std::get_if<Dense>(&base);
  if (!array || dense == nullptr || dense->bytes == 0) return {};
  array->element_bytes = dense->bytes;
  return *std::move(array);
}

}  // namespace

std::optional<Subarray> read_subarray(const Contents& contents) {
  Arguments arguments(contents);
  const int dimensions = arguments.integer();
  Subarray found;
  std::optional<Order> order;
  if (contents.has_counts()) order = arguments.order();
  found.shape = arguments.sizes(dimensions);
  found.sizes = arguments.sizes(dimensions);
  found.starts = arguments.sizes(dimensions);
  if (!contents.has_counts()) order = arguments.order();
  if (!arguments.is_complete() || !order) return std::nullopt;
  found.order = *order;
  return found;
}

std::optional<Darray> read_darray(const Contents& contents) {
  Arguments arguments(contents);
  Darray found;
  found.ranks = arguments.integer();
  found.rank = arguments.integer();
  const int dimensions = arguments.integer();
  found.shape = arguments.sizes(dimensions);
  found.kinds = arguments.integers(dimensions);
  found.arguments = arguments.integers(dimensions);
  for (const int extent : arguments.integers(dimensions)) found.grid.push_back(extent);
  const std::optional<Order> order = arguments.order();
  if (!arguments.is_complete() || !order) return std::nullopt;
  found.order = *order;
  return found;
}

ArrayDatatype decode(MPI_Datatype type) {
  return type == MPI_DATATYPE_NULL ? ArrayDatatype() : decode(type, Contents(type));
}

ArrayDatatype decode(MPI_Datatype type, const Contents& contents) {
  if (!contents.is_known()) return {};
  switch (contents.envelope().combiner) {
    case MPI_COMBINER_DUP: return decode(contents.base());
    case MPI_COMBINER_CONTIGUOUS:
      return repeat_blocks(contents.base(), Arguments(contents).size(), /*count=*/1, /*distance=*/0);
    case MPI_COMBINER_VECTOR: return decode_vector(contents, /*in_bytes=*/false);
    case MPI_COMBINER_HVECTOR: return decode_vector(contents, /*in_bytes=*/true);
    case MPI_COMBINER_INDEXED_BLOCK: return decode_list(contents, /*in_bytes=*/false, /*has_lengths=*/false);
    case MPI_COMBINER_HINDEXED_BLOCK: return decode_list(contents, /*in_bytes=*/true, /*has_lengths=*/false);
    case MPI_COMBINER_INDEXED: return decode_list(contents, /*in_bytes=*/false, /*has_lengths=*/true);
    case MPI_COMBINER_HINDEXED: return decode_list(contents, /*in_bytes=*/true, /*has_lengths=*/true);
    case MPI_COMBINER_RESIZED: return decode_resized(type, contents);
    case MPI_COMBINER_SUBARRAY: return with_elements(read_subarray(contents), contents.base());
    case MPI_COMBINER_DARRAY: return with_elements(read_darray(contents), contents.base());
    default: break;
  }
  // Pairs such as MPI_SHORT_INT are predefined as well, and may have holes.
  if (!contents.envelope().is_predefined()) return {};
  const std::int64_t bytes = data_bytes(type);
  const TypeExtent whole = extent(type);
  return bytes > 0 && whole.begin == 0 && whole.bytes == bytes ? ArrayDatatype(Dense{bytes}) : ArrayDatatype();
}

bool is_predefined(MPI_Datatype type) {
  const std::optional<Envelope> envelope = read_envelope(type);
  return !envelope || envelope->is_predefined();
}

std::int64_t data_bytes(MPI_Datatype type) {
  MPI_Count bytes = 0;
  return PMPI_Type_size_x(type, &bytes) == MPI_SUCCESS ? static_cast<std::int64_t>(bytes) : -1;
}

TypeExtent extent(MPI_Datatype type) {
  MPI_Count begin = -1;
  MPI_Count bytes = -1;
  PMPI_Type_get_extent_x(type, &begin, &bytes);
  return {begin, bytes};
}

}  // namespace plait::mpiio
