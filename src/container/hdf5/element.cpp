#include "container/hdf5/element.hpp"

#include <string_view>

#include "base/text.hpp"
#include "container/hdf5/float_formats.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

char byte_order(const Library& hdf5, hid_t type, std::size_t bytes) {
  if (bytes == 1) return '|';
  const int order = hdf5->H5Tget_order(type);
  return order == H5T_ORDER_LE ? '<' : order == H5T_ORDER_BE ? '>' : '?';
}

std::string_view order_suffix(char order) { return order == '<' ? "LE" : order == '>' ? "BE" : ""; }

Element unsupported(std::string description, const std::string& why) {
  return {{}, std::move(description), 0, base::Rejection::because(why, ", which Plait does not read; use h5py for it")};
}

Element make_integer(const Library& hdf5, hid_t type, bool is_signed, const char* kind) {
  const std::size_t bytes = hdf5->H5Tget_size(type);
  const char order = byte_order(hdf5, type, bytes);
  std::string description = text(kind, bytes * 8, order_suffix(order));
  const bool whole = hdf5->H5Tget_precision(type) == bytes * 8 && hdf5->H5Tget_offset(type) == 0;
  if (!whole || order == '?' || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
    return unsupported(std::move(description), text("its elements are integers of ", hdf5->H5Tget_precision(type),
                                                    " bits in ", bytes, bytes == 1 ? " byte" : " bytes"));
  return {text(order, is_signed ? 'i' : 'u', bytes), std::move(description), static_cast<std::int64_t>(bytes), {}};
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
    const bool number = known.dtype[0] == 'f';
    if ((number && order != '<' && order != '>') || (!number && order != '<')) continue;
    return {text(number ? order : '|', known.dtype),
            text(number ? "IEEE_F" : "BFLOAT", bytes * 8, order_suffix(order)),
            static_cast<std::int64_t>(bytes),
            {}};
  }
  return unsupported(text("FLOAT", bytes * 8, order_suffix(order)),
                     text("its elements are floats of ", exponent_bits, " bits of exponent and ", mantissa_bits,
                          " of mantissa in ", bytes, bytes == 1 ? " byte" : " bytes"));
}

std::string member_name(const Library& hdf5, hid_t type, unsigned number) {
  char* name = hdf5->H5Tget_member_name(type, number);
  if (name == nullptr) return {};
  std::string result(name);
  hdf5->H5free_memory(name);
  return result;
}

Element make_complex(const Element& part) {
  if (part.rejection) return part;
  const std::int64_t bytes = 2 * part.bytes;
  if (part.dtype.size() < 3 || part.dtype[1] != 'f' || part.bytes < 4)
    return unsupported(text("COMPLEX_", part.description),
                       "its elements are complex numbers of parts that NumPy has not");
  return {text(part.dtype[0], 'c', bytes), text("COMPLEX_", part.description), bytes, {}};
}

/// Recognizes the pairs that h5py and other programs write for complex numbers.
Element make_compound(const Library& hdf5, hid_t type) {
  const int count = hdf5->H5Tget_nmembers(type);
  if (count == 2) {
    const std::string first = member_name(hdf5, type, 0);
    const std::string second = member_name(hdf5, type, 1);
    const Handle real(hdf5->H5Tget_member_type(type, 0), hdf5->H5Tclose);
    const Handle imaginary(hdf5->H5Tget_member_type(type, 1), hdf5->H5Tclose);
    const bool named = (first == "r" && second == "i") || (first == "real" && second == "imag");
    if (named && real && imaginary && hdf5->H5Tget_class(real.id()) == H5T_FLOAT &&
        hdf5->H5Tget_class(imaginary.id()) == H5T_FLOAT) {
      const Element part = make_float(hdf5, real.id());
      const auto bytes = static_cast<std::size_t>(part.bytes);
      if (!part.rejection && part.dtype == make_float(hdf5, imaginary.id()).dtype &&
          hdf5->H5Tget_member_offset(type, 0) == 0 && hdf5->H5Tget_member_offset(type, 1) == bytes &&
          hdf5->H5Tget_size(type) == 2 * bytes)
        return make_complex(part);
    }
  }
  std::string names;
  for (int i = 0; i < count && i < 4; ++i)
    base::append_parts(names, i == 0 ? "" : ", ", member_name(hdf5, type, static_cast<unsigned>(i)));
  return unsupported("COMPOUND", text("its elements are records (", names, count > 4 ? ", ..." : "", ")"));
}

/// Reads an enumeration as its integers. The enumeration FALSE, TRUE that h5py writes for NumPy's bool becomes a
/// boolean.
Element make_enumeration(const Library& hdf5, hid_t type) {
  const Handle base(hdf5->H5Tget_super(type), hdf5->H5Tclose);
  Element result = make_integer(hdf5, base.id(), hdf5->H5Tget_sign(base.id()) != 0, "ENUM");
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

Element uninterpreted(const Library& hdf5, hid_t type, char kind, const char* description) {
  const std::size_t bytes = hdf5->H5Tget_size(type);
  return {text('|', kind, bytes), text(description, ' ', bytes), static_cast<std::int64_t>(bytes), {}};
}

}  // namespace

Element to_element(const Library& hdf5, hid_t type) {
  switch (static_cast<int>(hdf5->H5Tget_class(type))) {
    case H5T_INTEGER: {
      const bool is_signed = hdf5->H5Tget_sign(type) != 0;
      return make_integer(hdf5, type, is_signed, is_signed ? "STD_I" : "STD_U");
    }
    case H5T_BITFIELD: return make_integer(hdf5, type, false, "STD_B");
    case H5T_FLOAT: return make_float(hdf5, type);
    case kComplexClass: return make_complex(make_float(hdf5, Handle(hdf5->H5Tget_super(type), hdf5->H5Tclose).id()));
    case H5T_COMPOUND: return make_compound(hdf5, type);
    case H5T_ENUM: return make_enumeration(hdf5, type);
    case H5T_OPAQUE: return uninterpreted(hdf5, type, 'V', "OPAQUE");
    case H5T_STRING:
      if (hdf5->H5Tis_variable_str(type) <= 0) return uninterpreted(hdf5, type, 'S', "STRING");
      return {ArrayType::kTexts, "STRING VARIABLE", ArrayType::kTextBytes, {}};
    case H5T_REFERENCE: return unsupported("REFERENCE", "its elements are references to other objects");
    case H5T_VLEN: return unsupported("VLEN", "its elements are sequences of any length");
    case H5T_ARRAY: return unsupported("ARRAY", "its elements are arrays themselves");
    case H5T_TIME: return unsupported("TIME", "its elements are times in HDF5's own format");
    default: return unsupported("UNKNOWN", "its elements have a type that this version of HDF5 does not describe");
  }
}

}  // namespace plait::container::hdf5
