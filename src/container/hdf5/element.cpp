// Converting types of elements to the notation of .npy files.
//
// Problem: a compound type states an offset for each member, in any order, and its own size; members may be compound
// types and arrays. Each must get the offsets and the size that h5py shows.
//
// Idea: members in the order of their offsets become fields, and the bytes between them become padding
// (npy::print_record). If the elements are arrays, their dimensions are added to those of the dataset; arrays of arrays
// add the dimensions of all levels.
//
// Example: a compound type of 24 bytes with the double "x" at offset 16 and an array of three int16 "n" at offset 0 is
// [('n', '<i2', (3,)), ('', '|V10'), ('x', '<f8')].

#include "container/hdf5/element.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/hdf5/float_formats.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/npy/record_type.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

/// Maximum depth of records within records. Readers of .npy files accept 16 levels of brackets, and a record needs two.
constexpr int kMaxNesting = 6;
constexpr std::size_t kMaxTexts = 4096;  // padded texts in an element
constexpr int kMaxShownNames = 4;        // names of members in the description of a record

/// Returns the byte order in the notation of .npy files; `?` for an order that they do not have.
char byte_order(const Library& hdf5, hid_t type, std::size_t bytes) {
  if (bytes == 1) return '|';
  const int order = hdf5->H5Tget_order(type);
  return order == H5T_ORDER_LE ? '<' : order == H5T_ORDER_BE ? '>' : '?';
}

std::string_view order_suffix(char order) { return order == '<' ? "LE" : order == '>' ? "BE" : ""; }

/// Returns a rejected element. reason: as in `its elements are references`.
Element make_unsupported(std::string description, const std::string& reason) {
  Element element{
      {}, std::move(description), 0, base::Rejection::because(reason, ", which Plait does not read; use h5py for it")};
  element.unread_reason = reason;
  return element;
}

/// kind: the beginning of the description, such as `STD_I`.
Element make_integer(const Library& hdf5, hid_t type, bool is_signed, const char* kind) {
  const std::size_t bytes = hdf5->H5Tget_size(type);
  const char order = byte_order(hdf5, type, bytes);
  std::string description = text(kind, bytes * 8, order_suffix(order));
  const bool uses_all_bits = hdf5->H5Tget_precision(type) == bytes * 8 && hdf5->H5Tget_offset(type) == 0;
  const std::size_t memory_bytes = std::bit_ceil(bytes);
  std::string stored =
      text("integers of ", hdf5->H5Tget_precision(type), " bits in ", bytes, bytes == 1 ? " byte" : " bytes");
  if (order == '?' || memory_bytes > 8)
    return make_unsupported(std::move(description), text("its elements are ", stored));
  if (uses_all_bits && bytes == memory_bytes) stored.clear();  // no conversion is needed
  return {text(order, is_signed ? 'i' : 'u', memory_bytes),
          std::move(description),
          static_cast<std::int64_t>(memory_bytes),
          {},
          std::move(stored)};
}

/// Returns true if a format can represent all numbers of another one, and has at least as many bytes.
bool can_represent(const FloatFormat& format, const FloatFormat& other) {
  constexpr std::size_t kMaxExponentBits = 15;
  if (other.exponent_bits > kMaxExponentBits || other.exponent_bits == 0) return false;
  const auto max_exponent = [](const FloatFormat& any) {
    return (std::int64_t{1} << any.exponent_bits) - 1 - static_cast<std::int64_t>(any.bias);
  };
  return format.bytes >= other.bytes && format.mantissa_bits >= other.mantissa_bits && format.bias >= other.bias &&
         max_exponent(format) >= max_exponent(other);
}

Element make_float(const Library& hdf5, hid_t type) {
  const std::size_t bytes = hdf5->H5Tget_size(type);
  const char order = byte_order(hdf5, type, bytes);
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_bits = 0;
  hdf5->H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits);
  for (const FloatFormat& known : kFloatFormats) {
    if (known.bytes != bytes || known.precision != hdf5->H5Tget_precision(type) || known.sign != sign ||
        known.exponent != exponent || known.exponent_bits != exponent_bits || mantissa != 0 ||
        known.mantissa_bits != mantissa_bits || known.bias != hdf5->H5Tget_ebias(type) ||
        known.norm != hdf5->H5Tget_norm(type) || hdf5->H5Tget_offset(type) != 0)
      continue;
    const bool is_number = known.dtype[0] == 'f';  // bfloat16 is read as opaque bytes
    if ((is_number && order != '<' && order != '>') || (!is_number && order != '<')) continue;
    return {text(is_number ? order : '|', known.dtype),
            text(is_number ? "IEEE_F" : "BFLOAT", bytes * 8, order_suffix(order)),
            static_cast<std::int64_t>(bytes),
            {}};
  }
  std::string description = text("FLOAT", bytes * 8, order_suffix(order));
  std::string stored = text("floats of ", exponent_bits, " bits of exponent and ", mantissa_bits, " of mantissa in ",
                            bytes, bytes == 1 ? " byte" : " bytes");
  const FloatFormat stored_format{.bytes = bytes,
                                  .precision = 0,
                                  .sign = 0,
                                  .exponent = 0,
                                  .exponent_bits = exponent_bits,
                                  .mantissa_bits = mantissa_bits,
                                  .bias = hdf5->H5Tget_ebias(type),
                                  .norm = H5T_NORM_IMPLIED,
                                  .dtype = ""};
  for (const FloatFormat& known : kFloatFormats)
    if (known.dtype[0] == 'f' && known.bytes <= 8 && order != '?' && can_represent(known, stored_format))
      return {text(order == '|' ? '<' : order, known.dtype),
              std::move(description),
              static_cast<std::int64_t>(known.bytes),
              {},
              std::move(stored)};
  return make_unsupported(std::move(description), text("its elements are ", stored));
}

std::string member_name(const Library& hdf5, hid_t type, unsigned number) {
  char* name = hdf5->H5Tget_member_name(type, number);
  if (name == nullptr) return {};
  std::string result(name);
  hdf5->H5free_memory(name);
  return result;
}

/// part: the type of the real and of the imaginary part.
Element make_complex(const Element& part) {
  if (part.rejection) return part;
  const std::int64_t bytes = 2 * part.bytes;
  if (!part.conversion.empty() || part.dtype.size() < 3 || part.dtype[1] != 'f' || part.bytes < 4)
    return make_unsupported(text("COMPLEX_", part.description),
                            "its elements are complex numbers of parts that NumPy has not");
  return {text(part.dtype[0], 'c', bytes), text("COMPLEX_", part.description), bytes, {}};
}

/// Makes the element of a pair that h5py and other programs write for a complex number. Other types get no dtype.
Element make_complex_pair(const Library& hdf5, hid_t type) {
  if (hdf5->H5Tget_nmembers(type) != 2) return {};
  const std::string first = member_name(hdf5, type, 0);
  const std::string second = member_name(hdf5, type, 1);
  if (!(first == "r" && second == "i") && !(first == "real" && second == "imag")) return {};
  const Handle real(hdf5->H5Tget_member_type(type, 0), hdf5->H5Tclose);
  const Handle imaginary(hdf5->H5Tget_member_type(type, 1), hdf5->H5Tclose);
  if (!real || !imaginary || hdf5->H5Tget_class(real.id()) != H5T_FLOAT ||
      hdf5->H5Tget_class(imaginary.id()) != H5T_FLOAT)
    return {};
  const Element part = make_float(hdf5, real.id());
  const auto bytes = static_cast<std::size_t>(part.bytes);
  const bool is_pair = !part.rejection && part.conversion.empty() &&
                       part.dtype == make_float(hdf5, imaginary.id()).dtype &&
                       hdf5->H5Tget_member_offset(type, 0) == 0 && hdf5->H5Tget_member_offset(type, 1) == bytes &&
                       hdf5->H5Tget_size(type) == 2 * bytes;
  return is_pair ? make_complex(part) : Element{};
}

/// Makes the element of any type. depth: the number of types that contain this one.
Element make_element(const Library& hdf5, hid_t type, int depth);

/// Appends the texts of `count` elements, one after the other from `offset` on. Returns false if there are too many.
bool append_texts(std::vector<TextField>& texts, const Element& element, std::int64_t offset, std::int64_t count) {
  if (element.texts.empty()) return true;
  for (std::int64_t i = 0; i < count; ++i) {
    if (texts.size() + element.texts.size() > kMaxTexts) return false;
    for (TextField text : element.texts) {
      text.offset += offset + i * element.bytes;
      texts.push_back(text);
    }
  }
  return true;
}

/// Collects the members of a compound type as the fields of a record.
class RecordBuilder {
 public:
  RecordBuilder(const Library& hdf5, hid_t type) : hdf5_(hdf5), type_(type) {
    element_.bytes = static_cast<std::int64_t>(hdf5->H5Tget_size(type));
  }

  Element build(int depth) {
    const int count = hdf5_->H5Tget_nmembers(type_);
    for (int i = 0; i < count; ++i) {
      const std::string name = member_name(hdf5_, type_, static_cast<unsigned>(i));
      if (i < kMaxShownNames) base::append_parts(names_, i == 0 ? "" : ", ", name);
      if (const std::string reason = add(static_cast<unsigned>(i), to_utf8(name), depth); !reason.empty())
        return reject(count, reason);
    }
    if (fields_.empty()) return reject(count, "it has no members");
    std::ranges::stable_sort(fields_, {}, &npy::RecordField::offset);
    std::int64_t end = 0;
    for (const npy::RecordField& field : fields_) {
      if (field.offset < end || field.bytes > element_.bytes - field.offset)
        return reject(count, text("its member ", field.name, " overlaps another one or the end"));
      end = field.offset + field.bytes;
    }
    element_.dtype = npy::print_record(fields_, element_.bytes);
    element_.description = describe(count);
    return std::move(element_);
  }

 private:
  /// Adds a member. Returns the reason why Plait does not read it; otherwise an empty text.
  std::string add(unsigned number, const std::string& name, int depth) {
    const Handle member(hdf5_->H5Tget_member_type(type_, number), hdf5_->H5Tclose);
    if (!member) return text("its member ", name, " cannot be read", hdf5_.last_error());
    Element part = make_element(hdf5_, member.id(), depth + 1);
    if (part.rejection) {
      element_.unread_member = part.unread_member.empty() ? text(name, " is of the type ", part.description)
                                                          : text(name, '.', part.unread_member);
      return text("its member ", element_.unread_member);
    }
    if (!part.conversion.empty()) return text("its member ", name, " has the type ", part.conversion);
    if (name.empty() || !used_names_.insert(name).second) return "its members have no names, or the same";
    const std::optional<std::int64_t> bytes = array_bytes(part.shape, part.bytes);
    const auto offset = static_cast<std::int64_t>(hdf5_->H5Tget_member_offset(type_, number));
    if (!bytes || !append_texts(element_.texts, part, offset, *bytes / std::max<std::int64_t>(part.bytes, 1)))
      return text("its member ", name, " has more than ", kMaxTexts, " texts");
    fields_.push_back({name, std::move(part.dtype), std::move(part.shape), offset, *bytes});
    return {};
  }
  std::string describe(int count) const { return text("COMPOUND (", names_, count > kMaxShownNames ? ", ...)" : ")"); }
  Element reject(int count, const std::string& reason) const {
    Element rejected = make_unsupported("COMPOUND", text("its elements are records (", names_,
                                                         count > kMaxShownNames ? ", ..." : "", "), and ", reason));
    rejected.unread_member = element_.unread_member;
    return rejected;
  }

  const Library& hdf5_;
  const hid_t type_;
  Element element_;
  std::string names_;                 // the first names, for descriptions
  std::set<std::string> used_names_;  // all names
  std::vector<npy::RecordField> fields_;
};

Element make_compound(const Library& hdf5, hid_t type, int depth) {
  if (Element pair = make_complex_pair(hdf5, type); !pair.dtype.empty()) return pair;
  if (depth >= kMaxNesting)
    return make_unsupported(text("COMPOUND in more than ", kMaxNesting, " others"),
                            "its elements are nested too deeply");
  return RecordBuilder(hdf5, type).build(depth);
}

/// Makes the element of a bit field, which is read as an integer. Bit fields with unused bits are rejected, because the
/// library does not convert them to integers.
Element make_bit_field(const Library& hdf5, hid_t type) {
  Element element = make_integer(hdf5, type, /*is_signed=*/false, "STD_B");
  if (element.conversion.empty()) return element;
  return make_unsupported(std::move(element.description), text("its elements are bit fields, ", element.conversion));
}

Element make_array(const Library& hdf5, hid_t type, int depth) {
  std::array<hsize_t, kMaxDimensions> extents{};
  const int count = hdf5->H5Tget_array_ndims(type);
  const Handle base(hdf5->H5Tget_super(type), hdf5->H5Tclose);
  if (!base || count < 1 || count > kMaxDimensions || hdf5->H5Tget_array_dims2(type, extents.data()) < 0 ||
      depth >= kMaxNesting)
    return make_unsupported("ARRAY", "its elements are arrays with too many dimensions");
  const bool is_nested = hdf5->H5Tget_class(base.id()) == H5T_ARRAY;
  Element element = make_element(hdf5, base.id(), is_nested ? depth + 1 : depth);
  if (element.rejection) {
    element.description = text("ARRAY of ", element.description);
    return element;
  }
  if (element.dtype == ArrayType::kTexts)
    return make_unsupported("ARRAY of STRING VARIABLE", "its elements are arrays of texts of any length");
  Extents shape(extents.begin(), extents.begin() + count);
  std::string dimensions;
  for (const std::int64_t extent : shape) base::append_parts(dimensions, dimensions.empty() ? "" : "x", extent);
  shape.insert(shape.end(), element.shape.begin(), element.shape.end());
  if (shape.size() > kMaxDimensions || array_bytes(shape, element.bytes).value_or(0) < 1)
    return make_unsupported("ARRAY", "its elements are arrays with too many dimensions or bytes");
  element.shape = std::move(shape);
  element.description = text("ARRAY ", dimensions, " of ", element.description);
  return element;
}

TextPadding text_padding(const Library& hdf5, hid_t type) {
  const int padding = hdf5->H5Tget_strpad(type);
  if (padding == H5T_STR_SPACEPAD) return TextPadding::kSpace;
  // A null-terminated text of one byte holds only its terminator, so that it is the same as a padded one.
  return padding == H5T_STR_NULLTERM && hdf5->H5Tget_size(type) > 1 ? TextPadding::kTerminated : TextPadding::kNull;
}

/// Reads an enumeration as its integers. The enumeration FALSE, TRUE that h5py writes for NumPy's bool becomes a
/// boolean.
Element make_enumeration(const Library& hdf5, hid_t type) {
  const Handle base(hdf5->H5Tget_super(type), hdf5->H5Tclose);
  Element result = make_integer(hdf5, base.id(), hdf5->H5Tget_sign(base.id()) != 0, "ENUM");
  if (!result.conversion.empty())
    return make_unsupported(std::move(result.description),
                            text("its elements are an enumeration of ", result.conversion));
  signed char first = -1;
  signed char second = -1;
  if (result.bytes == 1 && hdf5->H5Tget_nmembers(type) == 2 && hdf5->H5Tget_member_value(type, 0, &first) >= 0 &&
      hdf5->H5Tget_member_value(type, 1, &second) >= 0 && first == 0 && second == 1 &&
      member_name(hdf5, type, 0) == "FALSE" && member_name(hdf5, type, 1) == "TRUE") {
    result.dtype = "|b1";
    result.description = "ENUM (FALSE, TRUE)";
  }
  return result;
}

/// Makes the element of a type whose bytes are passed on as they are. kind: the letter of the dtype.
Element make_bytes(const Library& hdf5, hid_t type, char kind, const char* description) {
  const std::size_t bytes = hdf5->H5Tget_size(type);
  return {text('|', kind, bytes), text(description, ' ', bytes), static_cast<std::int64_t>(bytes)};
}

Element make_text(const Library& hdf5, hid_t type) {
  Element element = make_bytes(hdf5, type, 'S', "STRING");
  if (const TextPadding padding = text_padding(hdf5, type); padding != TextPadding::kNull)
    element.texts.push_back({0, element.bytes, padding});
  return element;
}

/// Reads opaque bytes. Those with a tag such as `NUMPY:<M8[ns]`, which h5py writes, are NumPy's dates and durations.
Element make_opaque(const Library& hdf5, hid_t type) {
  Element element = make_bytes(hdf5, type, 'V', "OPAQUE");
  char* const stored = hdf5->H5Tget_tag(type);
  const std::string tag(stored == nullptr ? "" : stored);
  if (stored != nullptr) hdf5->H5free_memory(stored);
  if (element.bytes != kDateBytes || !tag.starts_with(kNumpyTag)) return element;
  const std::string dtype = tag.substr(kNumpyTag.size());
  if (!is_date(dtype)) return element;
  element.dtype = dtype;
  element.description = text("OPAQUE ", tag);
  return element;
}

Element make_element(const Library& hdf5, hid_t type, int depth) {
  switch (static_cast<int>(hdf5->H5Tget_class(type))) {
    case H5T_INTEGER: {
      const bool is_signed = hdf5->H5Tget_sign(type) != 0;
      return make_integer(hdf5, type, is_signed, is_signed ? "STD_I" : "STD_U");
    }
    case H5T_BITFIELD: return make_bit_field(hdf5, type);
    case H5T_FLOAT: return make_float(hdf5, type);
    case kComplexClass: return make_complex(make_float(hdf5, Handle(hdf5->H5Tget_super(type), hdf5->H5Tclose).id()));
    case H5T_COMPOUND: return make_compound(hdf5, type, depth);
    case H5T_ENUM: return make_enumeration(hdf5, type);
    case H5T_OPAQUE: return make_opaque(hdf5, type);
    case H5T_STRING:
      if (hdf5->H5Tis_variable_str(type) <= 0) return make_text(hdf5, type);
      if (depth > 0) return make_unsupported("STRING VARIABLE", "its elements contain texts of any length");
      return {ArrayType::kTexts, "STRING VARIABLE", ArrayType::kTextBytes, {}};
    case H5T_REFERENCE: return make_unsupported("REFERENCE", "its elements are references to other objects");
    case H5T_VLEN: return make_unsupported("VLEN", "its elements are sequences of any length");
    case H5T_ARRAY: return make_array(hdf5, type, depth);
    case H5T_TIME: return make_unsupported("TIME", "its elements are times in HDF5's own format");
    default: return make_unsupported("UNKNOWN", "its elements have a type that this version of HDF5 does not describe");
  }
}

}  // namespace

bool is_date(std::string_view dtype) {
  const bool has_order =
      dtype.starts_with("<M8[") || dtype.starts_with(">M8[") || dtype.starts_with("<m8[") || dtype.starts_with(">m8[");
  return has_order && dtype.size() > 5 && dtype.ends_with(']') &&
         std::ranges::all_of(dtype.substr(4, dtype.size() - 5),
                             [](unsigned char c) { return std::isalnum(c) != 0 && c < 0x80; });
}

Element to_element(const Library& hdf5, hid_t type) { return make_element(hdf5, type, /*depth=*/0); }

Handle make_memory_type(const Library& hdf5, hid_t type, const std::string& dtype, bool is_converted) {
  return is_converted ? make_hdf5_type(hdf5, dtype) : Handle(hdf5->H5Tcopy(type), hdf5->H5Tclose);
}

}  // namespace plait::container::hdf5
