// Reading attributes by the HDF5 library.

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
std::string decode_text(std::string_view bytes, bool is_padded_with_blanks) {
  bytes = bytes.substr(0, bytes.find('\0'));
  if (is_padded_with_blanks) bytes = bytes.substr(0, bytes.find_last_not_of(' ') + 1);
  return to_utf8(bytes);
}

/// Reads one attribute.
class AttributeReader {
 public:
  AttributeReader(const Library& hdf5, hid_t object, const std::string& name, bool is_netcdf)
      : hdf5_(hdf5), attribute_(hdf5->H5Aopen(object, name.c_str(), 0), hdf5->H5Aclose), is_netcdf_(is_netcdf) {
    result_.name = name;
  }

  ArrayAttribute read() {
    type_ = Handle(attribute_ ? hdf5_->H5Aget_type(attribute_.id()) : -1, hdf5_->H5Tclose);
    space_ = Handle(attribute_ ? hdf5_->H5Aget_space(attribute_.id()) : -1, hdf5_->H5Sclose);
    if (!type_ || !space_) {
      result_.error = text("it cannot be read", hdf5_.last_error());
      return result_;
    }
    const bool is_null = !read_shape();
    const bool is_text = hdf5_->H5Tget_class(type_.id()) == H5T_STRING;
    // An attribute with a null dataspace has no value; it becomes one empty text, or an empty list of numbers.
    if (is_null) result_.shape = is_text ? Extents{} : Extents{0};
    if (is_text)
      read_texts(is_null);
    else
      read_numbers(is_null);
    if (!result_.error.empty()) result_ = {result_.name, result_.dtype, {}, {}, {}, result_.error};
    return result_;
  }

 private:
  /// Reads the shape of the value. Returns false if there is no value.
  bool read_shape() {
    const int kind = hdf5_->H5Sget_simple_extent_type(space_.id());
    if (kind == H5S_NULL) return false;
    const int count = kind == H5S_SIMPLE ? hdf5_->H5Sget_simple_extent_ndims(space_.id()) : 0;
    std::array<hsize_t, kMaxDimensions> extents{};
    if (count > kMaxDimensions ||
        (count > 0 && hdf5_->H5Sget_simple_extent_dims(space_.id(), extents.data(), nullptr) < 0))
      return false;
    for (int d = 0; d < count; ++d)
      result_.shape.push_back(static_cast<std::int64_t>(extents[static_cast<std::size_t>(d)]));
    if (is_netcdf_ && result_.shape == Extents{1}) result_.shape.clear();
    return true;
  }
  /// Returns true if all values together are within the limits. Otherwise it records the error.
  /// bytes: the size of a value.
  bool fits_limits(std::size_t bytes) {
    std::int64_t lists = 1;
    bool fits = true;
    for (const std::int64_t extent : result_.shape)
      fits = fits && extent >= 0 && !__builtin_mul_overflow(lists, std::max<std::int64_t>(extent, 1), &lists);
    const bool is_empty = std::ranges::find(result_.shape, 0) != result_.shape.end();
    const auto list_bytes = std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1);
    if (fits && lists <= (is_empty ? kMaxEmptyLists : kMaxAttributeBytes / list_bytes)) return true;
    result_.error = is_empty ? text("it has no values, in more than ", kMaxEmptyLists, " lists")
                             : text("it has more than ", kMaxAttributeBytes, " bytes");
    return false;
  }
  /// Reads values of all types except texts.
  void read_numbers(bool is_null) {
    Element element = to_element(hdf5_, type_.id());
    result_.dtype = is_date(element.dtype) ? base::text("|V", element.bytes) : std::move(element.dtype);
    result_.error = element.rejection.reason();
    if (!is_null) result_.shape.insert(result_.shape.end(), element.shape.begin(), element.shape.end());
    if (result_.shape.size() > kMaxDimensions) result_.error = "it has too many dimensions";
    const auto bytes = static_cast<std::size_t>(element.bytes);
    if (!result_.error.empty() || is_null || !fits_limits(bytes)) return;
    result_.values.resize(static_cast<std::size_t>(value_count(result_)) * bytes);
    if (result_.values.empty()) return;
    const Handle memory = make_memory_type(hdf5_, type_.id(), result_.dtype, !element.conversion.empty());
    if (hdf5_->H5Aread(attribute_.id(), memory.id(), result_.values.data()) < 0)
      result_.error = text("it cannot be read", hdf5_.last_error());
    HdfDataset values;  // for the padding of texts
    values.type.element_bytes = element.bytes;
    values.padded_texts = std::move(element.texts);
    values.pad_with_null(result_.values);
  }
  void read_texts(bool is_null) {
    result_.dtype = ArrayAttribute::kTexts;
    if (is_null) return result_.texts.emplace_back(), static_cast<void>(0);
    const bool has_any_length = hdf5_->H5Tis_variable_str(type_.id()) > 0;
    const std::size_t bytes = has_any_length ? sizeof(char*) : hdf5_->H5Tget_size(type_.id());
    if (!fits_limits(bytes)) return;
    const auto count = static_cast<std::size_t>(value_count(result_));
    if (count == 0) return;
    if (has_any_length) {
      std::vector<char*> texts(count);
      if (hdf5_->H5Aread(attribute_.id(), type_.id(), texts.data()) < 0) {
        result_.error = text("it cannot be read", hdf5_.last_error());
        return;
      }
      for (const char* value : texts) result_.texts.push_back(value == nullptr ? std::string() : to_utf8(value));
      hdf5_->H5Dvlen_reclaim(type_.id(), space_.id(), 0, texts.data());
      return;
    }
    std::vector<char> characters(count * bytes);
    if (hdf5_->H5Aread(attribute_.id(), type_.id(), characters.data()) < 0) {
      result_.error = text("it cannot be read", hdf5_.last_error());
      return;
    }
    const bool is_padded_with_blanks = hdf5_->H5Tget_strpad(type_.id()) == H5T_STR_SPACEPAD;
    for (std::size_t i = 0; i < count; ++i)
      result_.texts.push_back(decode_text({characters.data() + i * bytes, bytes}, is_padded_with_blanks));
  }

  const Library& hdf5_;
  const Handle attribute_;
  const bool is_netcdf_;
  Handle type_;
  Handle space_;
  ArrayAttribute result_;
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
  hsize_t position = 0;
  if (hdf5->H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &position, add_attribute_name, &names) < 0)
    return {{"?", {}, {}, {}, {}, text("attributes cannot be read", hdf5.last_error())}};
  bool is_scale = hdf5->H5Aexists(object, "REFERENCE_LIST") > 0;
  if (!is_scale && hdf5->H5Aexists(object, "CLASS") > 0) {
    const ArrayAttribute kind = AttributeReader(hdf5, object, "CLASS", /*is_netcdf=*/false).read();
    is_scale = kind.is_texts() && kind.texts == std::vector<std::string>{"DIMENSION_SCALE"};
  }
  ArrayAttributes attributes;
  for (const std::string& name : names)
    if (!is_internal(name, is_scale)) attributes.push_back(AttributeReader(hdf5, object, name, is_netcdf).read());
  return attributes;
}

}  // namespace plait::container::hdf5
