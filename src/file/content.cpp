#include "file/content.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "file/foreign.hpp"
#include "file/joint.hpp"
#include "plait/disks.hpp"
#include "plait/error.hpp"
#include "store/npy/header.hpp"
#include "store/stripe/description.hpp"
#include "store/stripe/name.hpp"
#include "store/url.hpp"

namespace plait::file {

namespace {

namespace npy = store::npy;
using base::text;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::kArgument, message); }

/// What the caller says the array is.
ArrayType wanted_type(const FileOptions& options, const std::string& path, bool is_new) {
  if (!options.shape || (!options.dtype && options.element_bytes == 0))
    refuse(text(path, ": shape and dtype must be given, because the file ",
                is_new ? "is a new one" : "does not tell them"));
  ArrayType type;
  type.shape = *options.shape;
  type.dtype = options.dtype.value_or("");
  type.element_bytes = options.element_bytes != 0 ? options.element_bytes : npy::element_bytes_of(type.dtype);
  type.order = options.order.value_or(Order::kC);
  if (type.element_bytes < 1) refuse(text(path, ": elements of ", type.element_bytes, " bytes cannot be"));
  for (const std::int64_t extent : type.shape)
    if (extent < 0)
      refuse(text(path, ": the shape ", shape_to_string(type.shape), " has a negative size; use 0 or more"));
  if (type.shape.size() > kMaxDimensions)
    refuse(
        text(path, ": the shape has ", type.shape.size(), " dimensions; at most ", kMaxDimensions, " are supported"));
  return type;
}

npy::Header read_header(store::Store& store, const std::string& path) {
  const std::int64_t size = store.size();
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::int64_t>(size, npy::kPreambleBytes)));
  store.read({{0, bytes.data(), static_cast<std::int64_t>(bytes.size())}});
  const std::int64_t length = npy::header_bytes(bytes, path);
  if (length > size)
    throw Error(ErrorKind::kSystem, text("cannot open ", path, " as .npy: the header has ", length,
                                         " bytes, but the file only ", size, "; it has been truncated"));
  bytes.resize(static_cast<std::size_t>(length));
  store.read({{0, bytes.data(), length}});
  return npy::parse_header(bytes, path);
}

void refuse_several(const std::string& path, const FileOptions& options) {
  if (options.several)
    refuse(text(path, ": a .npy file holds one array, but several were announced; use a name that does not end so"));
}

/// Whether a file begins as .npy files do.
bool has_header(store::Store& store) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::array<std::byte, kMagic.size()> front{};
  if (store.size() < static_cast<std::int64_t>(front.size())) return false;
  store.read({{0, front.data(), static_cast<std::int64_t>(front.size())}});
  return std::equal(kMagic.begin(), kMagic.end(), reinterpret_cast<const char*>(front.data()));
}

Content with_header(store::Store& store, const std::string& path, const FileOptions& options) {
  refuse_several(path, options);
  const npy::Header header = read_header(store, path);
  if (options.shape && *options.shape != header.shape)
    refuse(text(path, " holds an array ", shape_to_string(header.shape), ", but the shape ",
                shape_to_string(*options.shape), " was given; leave it out or correct it"));
  if (options.order && *options.order != header.order)
    refuse(text(path, " holds its array in order ", header.order == Order::kC ? "C" : "F",
                ", but order=", *options.order == Order::kC ? "C" : "F", " was given; leave it out or correct it"));
  if (options.offset != 0)
    refuse(text(path, ": offset=", options.offset,
                " was given, but the header tells where the array begins; leave it out"));
  if (options.dtype && !npy::same_descr(*options.dtype, header.descr))
    refuse(text(path, " holds elements of dtype ", header.descr, ", but ", *options.dtype,
                " was given; leave it out or correct it"));
  if (options.element_bytes != 0 && options.element_bytes != header.element_bytes)
    refuse(text(path, " holds elements of ", header.element_bytes, " bytes, but ", options.element_bytes,
                " were given; leave them out or correct them"));
  return {{header.shape, header.descr, header.element_bytes, header.order}, header.data_offset};
}

Content without_header(const std::string& path, const FileOptions& options) {
  Content found{wanted_type(options, path, false), options.offset};
  if (options.offset < 0) refuse(text(path, ": offset=", options.offset, " is negative; give a number of bytes"));
  return found;
}

}  // namespace

Header header_of(const std::string& path) {
  if (joint_scheme_of(path) != nullptr) return Header::kIfNotRaw;
  const bool plain = !store::stripe::is_name(path) && !store::is_raw(path);
  return plain && path.ends_with(".npy") ? Header::kNpy : Header::kNone;
}

std::int64_t array_bytes(const ArrayType& type) {
  return base::checked_multiply(base::checked_product(type.shape, "elements of the array"), type.element_bytes,
                                "bytes of the array");
}

namespace {

Content read_told(store::Store& store, const std::string& path, const FileOptions& options, bool described) {
  const Header kind = header_of(path);
  const bool tells = kind == Header::kNpy || (kind == Header::kIfNotRaw && !options.several && has_header(store));
  Content found = tells ? with_header(store, path, options) : without_header(path, options);
  const std::int64_t size = store.size();
  const std::int64_t needed = base::checked_add(found.data_offset, array_bytes(found.type), "bytes of the file");
  if (size != needed && !described && store::stripe::holds_description(store))
    refuse(text(path, " has ", size, " bytes that describe a striped file; open it as ", stripe_url(path)));
  const std::string what = text("an array ", shape_to_string(found.type.shape), " of ", found.type.element_bytes,
                                "-byte elements from offset ", found.data_offset, " on ");
  if (size < needed)
    throw Error(ErrorKind::kSystem,
                text(path, " has ", size, " bytes, but ", what, "needs ", needed,
                     tells ? "; it has been truncated" : "; it is truncated, or shape or dtype are wrong"));
  if (size > needed && !tells && !options.several)
    refuse(text(path, " has ", size, " bytes, but ", what, "has ", needed,
                "; give the shape and dtype that it was written with"));
  return found;
}

}  // namespace

Content read_content(store::Store& store, const std::string& path, const FileOptions& options, bool described) {
  try {
    return read_told(store, path, options, described);
  } catch (const Error& error) {
    if (described || header_of(path) == Header::kIfNotRaw) throw;
    const std::string_view format = foreign_by_content(store);
    const bool numpy = format == kNumpyFormat;
    if (format.empty() || (numpy && header_of(path) == Header::kNpy)) throw;
    throw Error(error.kind(),
                text(error.what(), ". Its first bytes are those of ", format,
                     numpy ? " files; give it a name that ends with .npy"
                           : " files, which Plait does not read; use a library for those"),
                error.system_code());
  }
}

std::int64_t NewContent::bytes() const {
  return base::checked_add(data_offset, array_bytes(type), "bytes of the file");
}

NewContent new_content(const std::string& path, const FileOptions& options) {
  const Header kind = header_of(path);
  NewContent result;
  result.type = wanted_type(options, path, kind != Header::kNone);
  const bool tells = kind == Header::kNpy || (kind == Header::kIfNotRaw && !options.several);
  if (!tells && options.offset != 0)
    refuse(text(path, ": offset=", options.offset, " in mode w; a new file begins with its array"));
  if (!tells) return result;
  refuse_several(path, options);
  if (result.type.dtype.empty() && kind == Header::kNpy) refuse(text(path, ": a .npy file needs a dtype"));
  // Elements of which only the size is known.
  if (result.type.dtype.empty()) result.type.dtype = text("|V", result.type.element_bytes);
  if (const std::int64_t told = npy::element_bytes_of(result.type.dtype); told != result.type.element_bytes)
    refuse(text(path, ": elements of dtype ", result.type.dtype, " have ", told, " bytes, but ",
                result.type.element_bytes, " were given; leave them out or correct them"));
  result.head = npy::make_header(result.type.dtype, result.type.order, result.type.shape);
  result.data_offset = static_cast<std::int64_t>(result.head.size());
  return result;
}

}  // namespace plait::file
