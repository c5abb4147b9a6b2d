// Writing attributes by the HDF5 library, for HDF5 and for netCDF files.

#include "container/hdf5/writing/new_attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/attributes_json.hpp"
#include "container/hdf5/hdf5_attributes.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/npy/record_type.hpp"

namespace plait::container::hdf5 {

namespace {

using base::Rejection;
using base::text;

/// Maximum size of an attribute: in the format that all versions read, it is in a message of less than 64 KiB.
constexpr std::size_t kMaxBytes = 64'000;
/// Maximum number of texts in an attribute, each of which has an element of 16 bytes.
constexpr std::size_t kMaxTexts = kMaxBytes / 16;

/// Makes the type of texts of `bytes` bytes, or of any length (H5T_VARIABLE).
Handle make_text_type_of_size(const Library& hdf5, std::size_t bytes, bool is_utf8) {
  Handle type(hdf5->H5Tcopy(hdf5->H5T_C_S1_g), hdf5->H5Tclose);
  const bool is_set =
      hdf5->H5Tset_size(type.id(), bytes) >= 0 && (!is_utf8 || hdf5->H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0);
  return is_set ? std::move(type) : Handle();
}

/// Writes texts: in netCDF files a single text of fixed length, otherwise texts of any length.
void write_texts(const Library& hdf5, hid_t object, const ArrayAttribute& attribute, bool is_netcdf,
                 const std::string& display_name) {
  const std::string& first = attribute.texts.empty() ? std::string() : attribute.texts.front();
  if (is_netcdf && attribute.shape.empty() && first.size() < kMaxBytes) {
    // Like netCDF's library, store an empty text as a null dataspace.
    const Handle type = make_text_type_of_size(hdf5, std::max<std::size_t>(first.size(), 1), /*is_utf8=*/true);
    const Handle space = first.empty() ? Handle(hdf5->H5Screate(H5S_NULL), hdf5->H5Sclose) : make_space(hdf5, {});
    return write_values(hdf5, object, attribute.name, {type, space, first.data()}, display_name);
  }
  std::vector<const char*> texts;
  for (const std::string& text_value : attribute.texts) texts.push_back(text_value.c_str());
  write_values(hdf5, object, attribute.name, {make_text_type(hdf5), make_space(hdf5, attribute.shape), texts.data()},
               display_name);
}

/// Converts an attribute for netCDF's library, which has fewer types of numbers, no booleans, and no attributes of more
/// than one dimension.
ArrayAttribute convert_to_netcdf(const ArrayAttribute& attribute) {
  ArrayAttribute result = attribute;
  result.shape = {value_count(attribute)};
  const std::string_view kind = std::string_view(attribute.dtype).substr(1);
  if (kind == "b1") result.dtype = "|i1";
  if (kind == "f2" || kind == "c4") {  // a c4 is a pair of f2
    const std::size_t parts = attribute.values.size() / 2;
    std::vector<float> wide(parts);
    for (std::size_t i = 0; i < parts; ++i)
      wide[i] = static_cast<float>(real_value(
          {{}, attribute.dtype.substr(0, 1) + "f2", {}, {&attribute.values[2 * i], &attribute.values[2 * i] + 2}}));
    result.dtype = kind == "f2" ? "<f4" : "<c8";
    result.values.resize(wide.size() * sizeof(float));
    std::memcpy(result.values.data(), wide.data(), result.values.size());
  } else if (kind[0] == 'c' && attribute.dtype[0] == '>') {
    // Swap the bytes of each part: the named types of complex numbers are little-endian.
    const std::size_t part_bytes = kind == "c8" ? 4 : 8;
    for (std::size_t at = 0; at < result.values.size(); at += part_bytes)
      std::reverse(result.values.begin() + static_cast<std::ptrdiff_t>(at),
                   result.values.begin() + static_cast<std::ptrdiff_t>(at + part_bytes));
    result.dtype[0] = '<';
  }
  return result;
}

/// Returns a type that netCDF's library shows. A type that netCDF lacks becomes a named type of the file; for complex
/// numbers it has the name that the nc-complex library gives it, which netCDF4-python recognizes.
Handle make_netcdf_type(const Library& hdf5, hid_t object, const std::string& dtype) {
  Handle type = make_hdf5_type(hdf5, dtype);
  const std::string_view kind = std::string_view(dtype).substr(1);
  if (!type || (kind[0] != 'c' && kind[0] != 'V')) return type;
  const std::string name = kind == "c8"    ? "/_PFNC_FLOAT_COMPLEX_TYPE"
                           : kind == "c16" ? "/_PFNC_DOUBLE_COMPLEX_TYPE"
                                           : text("/bytes_", kind.substr(1));
  Handle existing(hdf5->H5Oopen(object, name.c_str(), 0), hdf5->H5Oclose);
  if (existing) return existing;
  return hdf5->H5Tcommit2(object, name.c_str(), type.id(), 0, 0, 0) < 0 ? Handle() : std::move(type);
}

}  // namespace

Rejection hdf5_rejection(const ArrayAttribute& attribute, bool is_netcdf) {
  if (!attribute.error.empty()) return Rejection(attribute.error);
  if (is_internal(attribute.name, /*is_scale=*/false))
    return Rejection("HDF5 and netCDF-4 keep dimensions under this name");
  if (attribute.shape.size() > H5S_MAX_RANK)
    return Rejection::because("it has ", attribute.shape.size(), " dimensions, and HDF5's attributes at most ",
                              H5S_MAX_RANK);
  if (attribute.is_json())
    return Rejection(
        "HDF5's attributes are numbers and texts, and lists of these, but this is nested, null or of several types");
  if (attribute.is_texts()) {
    for (const std::string& value : attribute.texts)
      if (value.find('\0') != std::string::npos) return Rejection("HDF5's texts have no bytes of zero");
    if (attribute.texts.size() > kMaxTexts) return Rejection::because("it has more than ", kMaxTexts, " texts");
    return {};
  }
  if (attribute.values.size() > kMaxBytes)
    return Rejection::because("it has ", attribute.values.size(), " bytes, and HDF5's attributes at most ", kMaxBytes);
  if (npy::is_record(attribute.dtype))
    return is_netcdf ? Rejection("Plait writes no attributes of records to netCDF files")
                     : record_rejection(attribute.dtype, /*is_netcdf=*/false);
  const bool is_known =
      attribute.dtype.size() > 2 && std::string_view("biufcSV").find(attribute.dtype[1]) != std::string_view::npos;
  if (!is_known) return Rejection::because("HDF5 has no values of the type ", attribute.dtype);
  const std::string_view kind = std::string_view(attribute.dtype).substr(1);
  if (is_netcdf && (kind == "f12" || kind == "f16" || kind == "c24" || kind == "c32"))
    return Rejection::because("netCDF has no numbers of the type ", attribute.dtype);
  return {};
}

Handle make_text_type(const Library& hdf5) { return make_text_type_of_size(hdf5, H5T_VARIABLE, /*is_utf8=*/true); }

Handle make_space(const Library& hdf5, const Extents& shape) {
  if (shape.empty()) return {hdf5->H5Screate(H5S_SCALAR), hdf5->H5Sclose};
  std::vector<hsize_t> extents;
  for (const std::int64_t extent : shape) extents.push_back(static_cast<hsize_t>(extent));
  return {hdf5->H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), hdf5->H5Sclose};
}

void write_values(const Library& hdf5, hid_t object, const std::string& name, const RawValues& values,
                  const std::string& display_name) {
  const auto& [type, space, begin] = values;
  const Handle created(type && space ? hdf5->H5Acreate2(object, name.c_str(), type.id(), space.id(), 0, 0) : -1,
                       hdf5->H5Aclose);
  const bool is_empty = hdf5->H5Sget_simple_extent_npoints(space.id()) <= 0;
  if (!created || (!is_empty && hdf5->H5Awrite(created.id(), type.id(), begin) < 0))
    base::throw_system_error(EIO, display_name, ": the attribute \"", name, "\" cannot be made by ", hdf5.describe(),
                             hdf5.last_error(), "; leave it out");
}

void write_plain_text(const Library& hdf5, hid_t object, const std::string& name, const std::string& value,
                      const std::string& display_name) {
  write_values(hdf5, object, name,
               {make_text_type_of_size(hdf5, value.size() + 1, /*is_utf8=*/false), make_space(hdf5, {}), value.c_str()},
               display_name);
}

void write_attribute(const Library& hdf5, hid_t object, const ArrayAttribute& attribute, bool is_netcdf,
                     const std::string& display_name) {
  if (const Rejection rejection = hdf5_rejection(attribute, is_netcdf))
    base::throw_argument_error(display_name, ": the attribute \"", attribute.name,
                               "\" cannot be written: ", rejection.reason(), "; leave it out");
  if (attribute.is_texts()) return write_texts(hdf5, object, attribute, is_netcdf, display_name);
  const ArrayAttribute converted = is_netcdf ? convert_to_netcdf(attribute) : attribute;
  const Handle type =
      is_netcdf ? make_netcdf_type(hdf5, object, converted.dtype) : make_hdf5_type(hdf5, converted.dtype);
  write_values(hdf5, object, converted.name, {type, make_space(hdf5, converted.shape), converted.values.data()},
               display_name);
}

}  // namespace plait::container::hdf5
