#include "container/array_type.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "container/npy/header.hpp"
#include "plait/error.hpp"
#include "plan/access/chunks.hpp"

namespace plait::container {

using base::text;

namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::kArgument, message); }

}  // namespace

std::int64_t Content::bytes() const {
  const std::int64_t elements = plan::elements_with_room(type.shape, chunk);
  return base::checked_add(data_offset, base::checked_multiply(elements, type.element_bytes, "bytes of the array"),
                           "bytes of the file");
}

ArrayType described_type(const FileOptions& options, const std::string& path, bool is_new) {
  if (!options.shape || (!options.dtype && options.element_bytes == 0))
    refuse(text(path, ": shape and dtype must be given, because the file ",
                is_new ? "is a new one" : "does not contain them"));
  ArrayType type;
  type.shape = *options.shape;
  type.dtype = options.dtype.value_or("");
  type.element_bytes = options.element_bytes != 0 ? options.element_bytes : npy::element_bytes_of(type.dtype);
  type.order = options.order.value_or(Order::kC);
  if (type.element_bytes < 1)
    refuse(text(path, ": an element cannot have ", type.element_bytes, " bytes; give 1 or more"));
  for (const std::int64_t extent : type.shape)
    if (extent < 0)
      refuse(text(path, ": the shape ", shape_to_string(type.shape), " has a negative size; use 0 or more"));
  if (type.shape.size() > kMaxDimensions)
    refuse(
        text(path, ": the shape has ", type.shape.size(), " dimensions; at most ", kMaxDimensions, " are supported"));
  return type;
}

void check_size(const Content& content, std::int64_t size, const std::string& path, const FileOptions& options,
                bool tells) {
  const std::int64_t needed = content.bytes();
  const std::string what = text("an array ", shape_to_string(content.type.shape), " of ", content.type.element_bytes,
                                "-byte elements from offset ", content.data_offset, " on ");
  if (size < needed)
    throw Error(ErrorKind::kSystem,
                text(path, " has ", size, " bytes, but ", what, "needs ", needed,
                     tells ? "; it has been truncated" : "; it is truncated, or shape or dtype are wrong"));
  if (size > needed && !tells && !options.several)
    refuse(text(path, " has ", size, " bytes, but ", what, "has ", needed,
                "; give the shape and dtype that it was written with"));
}

}  // namespace plait::container
