#include "container/array_type.hpp"

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/npy/npy_header.hpp"
#include "plan/section/chunks.hpp"

namespace plait {

FileOptions options_for(const ArrayDescription& array) {
  FileOptions options;
  static_cast<ArrayProperties&>(options) = array.properties();
  options.shape = array.type.shape;
  options.dtype = array.type.dtype;
  options.element_bytes = array.type.element_bytes;
  options.order = array.type.order;
  return options;
}

}  // namespace plait

namespace plait::container {

using base::text;

std::int64_t Content::bytes() const {
  const std::int64_t elements = plan::count_padded_elements(type.shape, chunk_shape(), shard_shape());
  return base::checked_add(data_offset, base::checked_multiply(elements, type.element_bytes, "bytes of the array"),
                           "bytes of the file");
}

ArrayType make_array_type(const FileOptions& options, const std::string& path, bool is_new) {
  if (!options.shape || (!options.dtype && options.element_bytes == 0))
    base::throw_argument_error(path, ": shape and dtype must be given, because the file ",
                               is_new ? "is a new one" : "does not contain them");
  ArrayType type;
  type.shape = *options.shape;
  type.dtype = options.dtype.value_or("");
  if (type.has_texts() && !is_new)
    base::throw_argument_error(path,
                               ": texts of any length (dtype text) were given, but a file without a description has "
                               "elements of a fixed size; give a dtype such as S20 or U20");
  type.element_bytes = options.element_bytes != 0 ? options.element_bytes
                       : type.has_texts()         ? ArrayType::kTextBytes
                                                  : npy::dtype_bytes(type.dtype);
  if (type.has_texts() && type.element_bytes != ArrayType::kTextBytes)
    base::throw_argument_error(path, ": elements of dtype text have ", ArrayType::kTextBytes, " bytes, but ",
                               type.element_bytes, " were given; leave them out");
  type.order = options.order.value_or(Order::kC);
  if (type.element_bytes < 1)
    base::throw_argument_error(path, ": an element cannot have ", type.element_bytes, " bytes; give 1 or more");
  for (const std::int64_t extent : type.shape)
    if (extent < 0)
      base::throw_argument_error(path, ": the shape ", shape_to_string(type.shape),
                                 " has a negative size; use 0 or more");
  if (type.shape.size() > kMaxDimensions)
    base::throw_argument_error(path, ": the shape has ", type.shape.size(), " dimensions; at most ", kMaxDimensions,
                               " are supported");
  return type;
}

std::optional<std::int64_t> array_bytes(const Extents& shape, std::int64_t element_bytes) {
  bool fits = true;
  bool empty = false;
  std::int64_t bytes = element_bytes;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    fits = fits && !__builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (empty) return 0;
  return fits ? std::optional(bytes) : std::nullopt;
}

void check_options(const Content& found, const std::string& path, const FileOptions& options) {
  const ArrayType& type = found.type;
  if (options.several)
    base::throw_argument_error(path,
                               " states its array, but is opened for several raw ones; use a name without that ending");
  if (options.shape && *options.shape != type.shape)
    base::throw_argument_error(path, " holds an array ", shape_to_string(type.shape), ", but the shape ",
                               shape_to_string(*options.shape), " was given; leave it out or correct it");
  if (options.order && *options.order != type.order)
    base::throw_argument_error(path, " holds its array in order ", type.order == Order::kC ? "C" : "F",
                               ", but order=", *options.order == Order::kC ? "C" : "F",
                               " was given; leave it out or correct it");
  if (options.offset != 0)
    base::throw_argument_error(path, ": offset=", options.offset,
                               " was given, but the header states where the array begins; leave it out");
  if (options.dtype && !npy::same_descr(*options.dtype, type.dtype))
    base::throw_argument_error(path, " holds elements of dtype ", type.dtype, ", but ", *options.dtype,
                               " was given; leave it out or correct it");
  if (options.element_bytes != 0 && options.element_bytes != type.element_bytes)
    base::throw_argument_error(path, " holds elements of ", type.element_bytes, " bytes, but ", options.element_bytes,
                               " were given; leave them out or correct them");
}

void check_size(const Content& content, std::int64_t size, const std::string& path, const FileOptions& options,
                bool is_stated) {
  const std::int64_t needed = content.bytes();  // of the file, including data_offset
  if (size == needed) return;
  const std::string what = text("an array ", shape_to_string(content.type.shape), " of ", content.type.element_bytes,
                                "-byte elements from offset ", content.data_offset, " on ");
  if (size < needed)
    base::throw_system_error(0, path, " has ", size, " bytes, but ", what, "needs ", needed,
                             is_stated ? "; it has been truncated" : "; it is truncated, or shape or dtype are wrong");
  if (size > needed && !is_stated && !options.several)
    base::throw_argument_error(path, " has ", size, " bytes, but ", what, "has ", needed,
                               "; give the shape and dtype that it was written with");
}

}  // namespace plait::container
