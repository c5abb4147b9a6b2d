#include "container/hdf5/writing/new_attributes.hpp"

#include <cerrno>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/hdf5/attributes.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/refuse.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr int kInUtf8 = 1;                           // H5T_CSET_UTF8
constexpr std::size_t kAnyLength = ~std::size_t{0};  // H5T_VARIABLE
/// The library keeps attributes in messages of less than 64 KiB, in the format that all versions read.
constexpr std::size_t kMostBytes = 64'000;

Handle fixed_text_type(const Library& hdf5, std::size_t bytes, bool utf8) {
  Handle type(hdf5->H5Tcopy(hdf5->H5T_C_S1_g), hdf5->H5Tclose);
  const bool made = hdf5->H5Tset_size(type.id(), bytes) >= 0 && (!utf8 || hdf5->H5Tset_cset(type.id(), kInUtf8) >= 0);
  return made ? std::move(type) : Handle();
}

void write_texts(const Library& hdf5, Id object, const ArrayAttribute& attribute, bool of_netcdf,
                 const std::string& shown) {
  const std::string& first = attribute.texts.empty() ? std::string() : attribute.texts.front();
  if (of_netcdf && attribute.shape.empty() && first.size() < kMostBytes) {
    const Handle type = fixed_text_type(hdf5, std::max<std::size_t>(first.size(), 1), true);
    const Handle space = first.empty() ? Handle(hdf5->H5Screate(kNull), hdf5->H5Sclose) : space_of(hdf5, {});
    return write_values(hdf5, object, attribute.name, {type, space, first.data()}, shown);
  }
  std::vector<const char*> texts;
  for (const std::string& one : attribute.texts) texts.push_back(one.c_str());
  write_values(hdf5, object, attribute.name, {text_type(hdf5), space_of(hdf5, attribute.shape), texts.data()}, shown);
}

}  // namespace

std::string refused_by_hdf5(const ArrayAttribute& attribute) {
  if (!attribute.refused.empty()) return attribute.refused;
  if (is_internal(attribute.name, false)) return "HDF5 and netCDF-4 keep dimensions under this name";
  if (attribute.is_json())
    return "HDF5's attributes are numbers and texts, and lists of these, but this is nested, null or of several types";
  if (attribute.is_texts()) {
    for (const std::string& one : attribute.texts)
      if (one.find('\0') != std::string::npos) return "HDF5's texts have no bytes of zero";
    if (attribute.texts.size() > kMostBytes / 16) return text("it has more than ", kMostBytes / 16, " texts");
    return {};
  }
  if (attribute.values.size() > kMostBytes)
    return text("it has ", attribute.values.size(), " bytes, and HDF5's attributes at most ", kMostBytes);
  const bool known =
      attribute.dtype.size() > 2 && std::string_view("biufcSV").find(attribute.dtype[1]) != std::string_view::npos;
  return known ? std::string() : text("HDF5 has no values of the type ", attribute.dtype);
}

Handle text_type(const Library& hdf5) { return fixed_text_type(hdf5, kAnyLength, true); }

Handle space_of(const Library& hdf5, const Extents& shape) {
  if (shape.empty()) return {hdf5->H5Screate(kScalar), hdf5->H5Sclose};
  std::vector<Size> extents;
  for (const std::int64_t extent : shape) extents.push_back(static_cast<Size>(extent));
  return {hdf5->H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), hdf5->H5Sclose};
}

void write_values(const Library& hdf5, Id object, const std::string& name, const RawValues& values,
                  const std::string& shown) {
  const auto& [type, space, begin] = values;
  const Handle made(type && space ? hdf5->H5Acreate2(object, name.c_str(), type.id(), space.id(), 0, 0) : -1,
                    hdf5->H5Aclose);
  const bool empty = hdf5->H5Sget_simple_extent_npoints(space.id()) <= 0;
  if (!made || (!empty && hdf5->H5Awrite(made.id(), type.id(), begin) < 0))
    throw Error(
        ErrorKind::kSystem,
        text(shown, ": the attribute \"", name, "\" cannot be made by ", hdf5.words(), hdf5.why(), "; leave it out"),
        EIO);
}

void write_plain_text(const Library& hdf5, Id object, const std::string& name, const std::string& value,
                      const std::string& shown) {
  write_values(hdf5, object, name, {fixed_text_type(hdf5, value.size() + 1, false), space_of(hdf5, {}), value.c_str()},
               shown);
}

void write_attribute(const Library& hdf5, Id object, const ArrayAttribute& attribute, bool of_netcdf,
                     const std::string& shown) {
  if (const std::string why = refused_by_hdf5(attribute); !why.empty())
    refuse(text(shown, ": the attribute \"", attribute.name, "\" cannot be written: ", why, "; leave it out"));
  if (attribute.is_texts()) return write_texts(hdf5, object, attribute, of_netcdf, shown);
  // netCDF has no booleans, and lists of one dimension only.
  const bool truth = of_netcdf && attribute.dtype == "|b1";
  const Extents shape = of_netcdf ? Extents{count_of(attribute)} : attribute.shape;
  write_values(hdf5, object, attribute.name,
               {new_type(hdf5, truth ? "|i1" : attribute.dtype), space_of(hdf5, shape), attribute.values.data()},
               shown);
}

}  // namespace plait::container::hdf5
