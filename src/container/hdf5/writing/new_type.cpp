// Making HDF5 types by the library. All functions return an invalid handle if HDF5 has no such type.

#include "container/hdf5/writing/new_type.hpp"

#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "container/hdf5/element.hpp"
#include "container/hdf5/float_formats.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/npy_header.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

namespace {

Handle make_integer_type(const Library& hdf5, bool is_signed, std::size_t bytes) {
  Handle type(hdf5->H5Tcopy(hdf5->H5T_STD_I64LE_g), hdf5->H5Tclose);
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return {};
  const bool is_set = hdf5->H5Tset_size(type.id(), bytes) >= 0 &&
                      hdf5->H5Tset_sign(type.id(), is_signed ? H5T_SGN_2 : H5T_SGN_NONE) >= 0;
  return is_set ? std::move(type) : Handle();
}

Handle make_float_type(const Library& hdf5, const FloatFormat& format) {
  Handle type(hdf5->H5Tcopy(hdf5->H5T_IEEE_F64LE_g), hdf5->H5Tclose);
  const hid_t id = type.id();
  const auto set_fields = [&] {
    return hdf5->H5Tset_fields(id, format.sign, format.exponent, format.exponent_bits, 0, format.mantissa_bits) >= 0 &&
           hdf5->H5Tset_ebias(id, format.bias) >= 0 && hdf5->H5Tset_norm(id, format.norm) >= 0;
  };
  const auto set_size = [&] {
    return hdf5->H5Tset_precision(id, format.precision) >= 0 && hdf5->H5Tset_size(id, format.bytes) >= 0;
  };
  // After each call the fields must be within the precision, and the precision within the size. Therefore set the
  // fields first if the type shrinks and last if it grows.
  const bool is_set = format.bytes <= 8 ? set_fields() && set_size()
                                        : hdf5->H5Tset_size(id, format.bytes) >= 0 && set_size() && set_fields();
  return is_set ? std::move(type) : Handle();
}

/// name: a dtype without its byte order, such as `f8`.
Handle make_named_float_type(const Library& hdf5, const std::string& name) {
  for (const FloatFormat& format : kFloatFormats)
    if (name == format.dtype) return make_float_type(hdf5, format);
  return {};
}

Handle make_boolean_type(const Library& hdf5) {
  const Handle base = make_integer_type(hdf5, /*is_signed=*/true, /*bytes=*/1);
  Handle type(hdf5->H5Tenum_create(base.id()), hdf5->H5Tclose);
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  const bool is_set =
      hdf5->H5Tenum_insert(type.id(), "FALSE", &no) >= 0 && hdf5->H5Tenum_insert(type.id(), "TRUE", &yes) >= 0;
  return is_set ? std::move(type) : Handle();
}

Handle make_bytes_type(const Library& hdf5, bool is_text, std::size_t bytes) {
  Handle type(is_text ? hdf5->H5Tcopy(hdf5->H5T_C_S1_g) : hdf5->H5Tcreate(H5T_OPAQUE, bytes), hdf5->H5Tclose);
  const bool is_set =
      hdf5->H5Tset_size(type.id(), bytes) >= 0 && (!is_text || hdf5->H5Tset_strpad(type.id(), H5T_STR_NULLPAD) >= 0);
  return is_set ? std::move(type) : Handle();
}

/// Makes the type of texts of any length.
Handle make_variable_text_type(const Library& hdf5) {
  Handle type(hdf5->H5Tcopy(hdf5->H5T_C_S1_g), hdf5->H5Tclose);
  const bool is_set =
      hdf5->H5Tset_size(type.id(), H5T_VARIABLE) >= 0 && hdf5->H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0;
  return is_set ? std::move(type) : Handle();
}

Handle make_date_type(const Library& hdf5, const std::string& dtype) {
  Handle type(hdf5->H5Tcreate(H5T_OPAQUE, kDateBytes), hdf5->H5Tclose);
  const std::string tag = std::string(kNumpyTag) + dtype;
  return hdf5->H5Tset_tag(type.id(), tag.c_str()) >= 0 ? std::move(type) : Handle();
}

/// Returns the name of the file format, netCDF or HDF5, if it cannot store elements of a simple dtype; otherwise empty.
std::string find_format_without(const std::string& dtype, bool is_netcdf) {
  const std::string_view kind = std::string_view(dtype).substr(1);
  const bool is_number = std::string_view("iufcb").find(kind[0]) != std::string_view::npos;
  if (is_netcdf) return (is_number ? !netcdf_lacks(kind) : kind[0] == 'S') ? "" : "netCDF";
  return is_number || kind[0] == 'S' || kind[0] == 'V' || is_date(dtype) ? "" : "HDF5";
}

}  // namespace

Handle make_array_type(const Library& hdf5, Handle type, const Extents& shape) {
  if (!type || shape.empty()) return type;
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {hdf5->H5Tarray_create2(type.id(), static_cast<unsigned>(extents.size()), extents.data()), hdf5->H5Tclose};
}

Handle make_record_type(const Library& hdf5, const std::string& dtype,
                        const std::function<Handle(const npy::RecordField&)>& make_field) {
  Handle type(hdf5->H5Tcreate(H5T_COMPOUND, static_cast<std::size_t>(npy::dtype_bytes(dtype))), hdf5->H5Tclose);
  for (const npy::RecordField& field : npy::parse_record(dtype)) {
    const Handle member = make_field(field);
    if (!member ||
        hdf5->H5Tinsert(type.id(), field.name.c_str(), static_cast<std::size_t>(field.offset), member.id()) < 0)
      return {};
  }
  return type;
}

bool netcdf_lacks(std::string_view kind) {
  return kind == "f2" || kind == "f12" || kind == "f16" || kind == "c24" || kind == "c32";
}

base::Rejection record_rejection(const std::string& dtype, bool is_netcdf) {
  const std::vector<npy::RecordField> fields = npy::parse_record(dtype);
  if (fields.empty()) return base::Rejection("its records have no fields");
  for (const npy::RecordField& field : fields) {
    if (field.name.empty() || field.name.find('\0') != std::string::npos || !npy::is_utf8(field.name))
      return base::Rejection("a field of its records has no name, or one that is not UTF-8 or contains a zero byte");
    if (field.bytes < 1) return base::Rejection::because("the field \"", field.name, "\" of its records has no bytes");
    if (is_netcdf && field.name.find('/') != std::string::npos)
      return base::Rejection::because("netCDF has no names with a slash, such as that of the field \"", field.name,
                                      '"');
    if (npy::is_record(field.dtype)) {
      if (base::Rejection inner = record_rejection(field.dtype, is_netcdf)) return inner;
    } else if (const std::string format = find_format_without(field.dtype, is_netcdf); !format.empty()) {
      return base::Rejection::because(format, " has no elements of dtype ", field.dtype,
                                      ", such as those of the field \"", field.name, "\" of its records");
    }
  }
  return {};
}

Handle make_hdf5_type(const Library& hdf5, const std::string& dtype) {
  if (dtype == ArrayType::kTexts) return make_variable_text_type(hdf5);
  if (npy::is_record(dtype))
    return make_record_type(hdf5, dtype, [&](const npy::RecordField& field) {
      return make_array_type(hdf5, make_hdf5_type(hdf5, field.dtype), field.shape);
    });
  if (is_date(dtype)) return make_date_type(hdf5, dtype);
  if (dtype.size() < 3) return {};
  const char order = dtype[0];
  const char kind = dtype[1];
  std::size_t bytes = 0;
  const char* const end = dtype.data() + dtype.size();
  if (const auto [stop, error] = std::from_chars(dtype.data() + 2, end, bytes);
      stop != end || error != std::errc() || bytes == 0)
    return {};
  const auto with_order = [&](Handle type) {
    if (type && order == '>' && hdf5->H5Tset_order(type.id(), H5T_ORDER_BE) < 0) return Handle();
    return type;
  };
  switch (kind) {
    case 'b': return bytes == 1 ? make_boolean_type(hdf5) : Handle();
    case 'i':
    case 'u': return with_order(make_integer_type(hdf5, kind == 'i', bytes));
    case 'f': return with_order(make_named_float_type(hdf5, dtype.substr(1)));
    case 'S':
    case 'V': return make_bytes_type(hdf5, kind == 'S', bytes);
    case 'c': {
      const Handle part = make_hdf5_type(hdf5, std::string{order, 'f'} + std::to_string(bytes / 2));
      if (!part) return {};
      Handle type(hdf5->H5Tcreate(H5T_COMPOUND, bytes), hdf5->H5Tclose);
      const bool is_set = hdf5->H5Tinsert(type.id(), "r", 0, part.id()) >= 0 &&
                          hdf5->H5Tinsert(type.id(), "i", bytes / 2, part.id()) >= 0;
      return is_set ? std::move(type) : Handle();
    }
    default: return {};
  }
}

}  // namespace plait::container::hdf5
