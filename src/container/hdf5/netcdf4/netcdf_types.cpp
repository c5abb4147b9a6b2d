// Types of records in netCDF-4 files.
//
// Problem: netCDF's library shows a variable of records only if all compound types within the records are named types
// of the file; earlier versions also require this of the variable's type itself. The members of its records are
// numbers, single characters, and arrays of both.
//
// Idea: each structured dtype becomes a named type, inner ones first, and equal ones are stored once. Texts become
// arrays of characters, and booleans become bytes. Offsets and sizes stay the same.
//
// Example: [('id', '<i4'), ('name', '|S5'), ('at', [('x', '<f8'), ('y', '<f8')])] becomes record_1 {x, y} and
// record_2 {id, char name(5), record_1 at}.

#include "container/hdf5/netcdf4/netcdf_types.hpp"

#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/npy/npy_header.hpp"
#include "container/npy/record_type.hpp"

namespace plait::container::hdf5 {

namespace {

/// Returns the record that stores a complex number.
std::string complex_record(const std::string& dtype) {
  const std::string part = base::text('\'', dtype[0], 'f', dtype == "<c8" || dtype == ">c8" ? 4 : 8, '\'');
  return base::text("[('r', ", part, "), ('i', ", part, ")]");
}

}  // namespace

hid_t NetcdfTypes::find_or_add(hid_t file, const std::string& dtype) {
  if (const auto found = types_.find(dtype); found != types_.end()) return found->second.id();
  Handle type = make_record(file, dtype);
  if (!type || hdf5_->H5Tcommit2(file, make_name().c_str(), type.id(), 0, 0, 0) < 0) return -1;
  return types_.emplace(dtype, std::move(type)).first->second.id();
}

Handle NetcdfTypes::make_record(hid_t file, const std::string& dtype) {
  return make_record_type(hdf5_, dtype, [&](const npy::RecordField& field) {
    Extents shape = field.shape;
    const bool is_text = !npy::is_record(field.dtype) && field.dtype[1] == 'S';
    if (is_text && field.dtype != "|S1") shape.push_back(npy::dtype_bytes(field.dtype));
    return make_array_type(hdf5_, make_field(file, is_text ? "|S1" : field.dtype), shape);
  });
}

Handle NetcdfTypes::make_field(hid_t file, const std::string& dtype) {
  const bool is_complex = !npy::is_record(dtype) && dtype[1] == 'c';
  if (!npy::is_record(dtype) && !is_complex) return make_hdf5_type(hdf5_, dtype == "|b1" ? "|i1" : dtype);
  const hid_t type = find_or_add(file, is_complex ? complex_record(dtype) : dtype);
  return type < 0 ? Handle() : Handle(hdf5_->H5Tcopy(type), hdf5_->H5Tclose);
}

std::string NetcdfTypes::make_name() {
  for (int number = 1;; ++number)
    if (std::string name = base::text("record_", number); used_names_.insert(name).second) return name;
}

}  // namespace plait::container::hdf5
