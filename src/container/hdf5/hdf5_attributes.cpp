#include "container/hdf5/hdf5_attributes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "container/attributes.hpp"
#include "container/hdf5/element.hpp"
#include "plait/layout.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

/// Maximum number of lists in an attribute of empty lists.
constexpr std::int64_t kMaxEmptyLists = std::int64_t{1} << 20;

herr_t add_attribute_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

/// Decodes a text of fixed length, which ends at the first zero byte or is padded with blanks.
std::string text_in(std::string_view bytes, bool blanks) {
  bytes = bytes.substr(0, bytes.find('\0'));
  if (blanks) bytes = bytes.substr(0, bytes.find_last_not_of(' ') + 1);
  return to_utf8(bytes);
}

class AttributeReader {
 public:
  AttributeReader(const Library& hdf5, hid_t object, const std::string& name, bool is_netcdf)
      : hdf5_(hdf5), attribute_(hdf5->H5Aopen(object, name.c_str(), 0), hdf5->H5Aclose), is_netcdf_(is_netcdf) {
    found_.name = name;
  }

  ArrayAttribute read() {
    type_ = Handle(attribute_ ? hdf5_->H5Aget_type(attribute_.id()) : -1, hdf5_->H5Tclose);
    space_ = Handle(attribute_ ? hdf5_->H5Aget_space(attribute_.id()) : -1, hdf5_->H5Sclose);
    if (!type_ || !space_) {
      found_.error = text("it cannot be read", hdf5_.last_error());
      return found_;
    }
    const bool is_null = !take_shape();
    const bool is_text = hdf5_->H5Tget_class(type_.id()) == H5T_STRING;
    // An attribute with a null dataspace has no value; it becomes one empty text, or an empty list of numbers.
    if (is_null) found_.shape = is_text ? Extents{} : Extents{0};
    if (is_text)
      read_texts(is_null);
    else
      read_numbers(is_null);
    if (!found_.error.empty()) found_ = {found_.name, found_.dtype, {}, {}, {}, found_.error};
    return found_;
  }

 private:
  /// Reads the shape of the value. Returns false if there is no value.
  bool take_shape() {
    const int kind = hdf5_->H5Sget_simple_extent_type(space_.id());
    if (kind == H5S_NULL) return false;
    const int count = kind == H5S_SIMPLE ? hdf5_->H5Sget_simple_extent_ndims(space_.id()) : 0;
    std::array<hsize_t, kMaxDimensions> extents{};
    if (count > kMaxDimensions ||
        (count > 0 && hdf5_->H5Sget_simple_extent_dims(space_.id(), extents.data(), nullptr) < 0))
      return false;
    for (int d = 0; d < count; ++d)
      found_.shape.push_back(static_cast<std::int64_t>(extents[static_cast<std::size_t>(d)]));
    if (is_netcdf_ && found_.shape == Extents{1}) found_.shape.clear();
    return true;
  }
  /// Returns true if all values together are within the limits. Otherwise it records the reason.
  bool fits_limits(std::size_t bytes) {
    std::int64_t lists = 1;
    bool fits = true;
    for (const std::int64_t extent : found_.shape)
      fits = fits && extent >= 0 && !__builtin_mul_overflow(lists, std::max<std::int64_t>(extent, 1), &lists);
    const bool empty = std::ranges::find(found_.shape, 0) != found_.shape.end();
    const auto list_bytes = std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1);
    if (fits && lists <= (empty ? kMaxEmptyLists : kMaxAttributeBytes / list_bytes)) return true;
    found_.error = empty ? text("it has no values, in more than ", kMaxEmptyLists, " lists")
                         : text("it has more than ", kMaxAttributeBytes, " bytes");
    return false;
  }
  void read_numbers(bool is_null) {
    Element element = to_element(hdf5_, type_.id());
    found_.dtype = is_date(element.dtype) ? base::text("|V", element.bytes) : std::move(element.dtype);
    found_.error = element.rejection.reason();
    if (!is_null) found_.shape.insert(found_.shape.end(), element.shape.begin(), element.shape.end());
    if (found_.shape.size() > kMaxDimensions) found_.error = "it has too many dimensions";
    const auto bytes = static_cast<std::size_t>(element.bytes);
    if (!found_.error.empty() || is_null || !fits_limits(bytes)) return;
    found_.values.resize(static_cast<std::size_t>(value_count(found_)) * bytes);
    if (found_.values.empty()) return;
    const Handle memory = make_memory_type(hdf5_, type_.id(), found_.dtype, !element.conversion.empty());
    if (hdf5_->H5Aread(attribute_.id(), memory.id(), found_.values.data()) < 0)
      found_.error = text("it cannot be read", hdf5_.last_error());
    HdfDataset values;  // for the padding of texts
    values.type.element_bytes = element.bytes;
    values.padded_texts = std::move(element.texts);
    values.pad_with_null(found_.values);
  }
  void read_texts(bool is_null) {
    found_.dtype = ArrayAttribute::kTexts;
    if (is_null) return found_.texts.emplace_back(), static_cast<void>(0);
    const bool any_length = hdf5_->H5Tis_variable_str(type_.id()) > 0;
    const std::size_t bytes = any_length ? sizeof(char*) : hdf5_->H5Tget_size(type_.id());
    if (!fits_limits(bytes)) return;
    const auto count = static_cast<std::size_t>(value_count(found_));
    if (count == 0) return;
    if (any_length) {
      std::vector<char*> texts(count);
      if (hdf5_->H5Aread(attribute_.id(), type_.id(), texts.data()) < 0) {
        found_.error = text("it cannot be read", hdf5_.last_error());
        return;
      }
      for (const char* value : texts) found_.texts.push_back(value == nullptr ? std::string() : to_utf8(value));
      hdf5_->H5Dvlen_reclaim(type_.id(), space_.id(), 0, texts.data());
      return;
    }
    std::vector<char> all(count * bytes);
    if (hdf5_->H5Aread(attribute_.id(), type_.id(), all.data()) < 0) {
      found_.error = text("it cannot be read", hdf5_.last_error());
      return;
    }
    const bool blanks = hdf5_->H5Tget_strpad(type_.id()) == H5T_STR_SPACEPAD;
    for (std::size_t i = 0; i < count; ++i) found_.texts.push_back(text_in({all.data() + i * bytes, bytes}, blanks));
  }

  const Library& hdf5_;
  const Handle attribute_;
  const bool is_netcdf_;
  Handle type_;
  Handle space_;
  ArrayAttribute found_;
};

}  // namespace

bool is_internal(std::string_view name, bool is_scale) {
  constexpr std::array<std::string_view, 6> kAlways{"DIMENSION_LIST",      "DIMENSION_LABELS", "_Netcdf4Dimid",
                                                    "_Netcdf4Coordinates", "_nc3_strict",      "_NCProperties"};
  constexpr std::array<std::string_view, 3> kOfScales{"CLASS", "NAME", "REFERENCE_LIST"};
  return std::ranges::find(kAlways, name) != kAlways.end() ||
         (is_scale && std::ranges::find(kOfScales, name) != kOfScales.end());
}

ArrayAttributes read_attributes(const Library& hdf5, hid_t object, bool is_netcdf) {
  std::vector<std::string> names;
  hsize_t at = 0;
  if (hdf5->H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, add_attribute_name, &names) < 0)
    return {{"?", {}, {}, {}, {}, text("attributes cannot be read", hdf5.last_error())}};
  bool is_scale = hdf5->H5Aexists(object, "REFERENCE_LIST") > 0;
  if (!is_scale && hdf5->H5Aexists(object, "CLASS") > 0) {
    const ArrayAttribute kind = AttributeReader(hdf5, object, "CLASS", false).read();
    is_scale = kind.is_texts() && kind.texts == std::vector<std::string>{"DIMENSION_SCALE"};
  }
  ArrayAttributes found;
  for (const std::string& name : names)
    if (!is_internal(name, is_scale)) found.push_back(AttributeReader(hdf5, object, name, is_netcdf).read());
  return found;
}

}  // namespace plait::container::hdf5
