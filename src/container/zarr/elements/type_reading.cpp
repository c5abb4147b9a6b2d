#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <set>

#include "container/npy/npy_header.hpp"
#include "container/npy/record_type.hpp"
#include "container/zarr/elements/element_types.hpp"
#include "container/zarr/elements/numbers.hpp"
#include "plait/error.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using nlohmann::json;

/// Maximum nesting of records. Each level has two brackets in the dtype, and parse_literal() reads 16 nested brackets.
constexpr int kMaxRecords = 7;
constexpr std::int64_t kMaxScale = std::numeric_limits<std::int32_t>::max();

/// Collects the fields of a record, and formats them as a structured dtype of .npy files.
class Fields {
 public:
  explicit Fields(const Document& document) : document_(document) {}

  /// shape: the extents of a field that is an array, as `(2, 3, )`; else empty.
  void add(const json& name, const std::string& dtype, const std::string& shape) {
    if (!name.is_string()) document_.throw_damaged("the name of a field is ", excerpt(name));
    const std::string& own = name.get_ref<const std::string&>();
    // Fields without a name are padding, of which a record may have several.
    if (!own.empty() && !names_.insert(own).second) document_.throw_damaged("two fields have the name \"", own, '"');
    base::append_parts(text_, text_.empty() ? "[" : ", ", '(', npy::quote(own), ", ",
                       dtype.starts_with('[') ? dtype : npy::quote(dtype), shape.empty() ? "" : ", ", shape, ')');
  }
  std::string finish() const {
    if (text_.empty()) document_.throw_damaged("its elements are records without fields");
    return text_ + ']';
  }

 private:
  const Document& document_;
  std::set<std::string> names_;
  std::string text_;
};

/// Reads types of either version, and returns dtypes of .npy files.
class TypeReader {
 public:
  explicit TypeReader(const Document& document, char order = '<') : document_(document), order_(order) {}

  std::string read_version_3(const json& type, int depth) const {
    const bool named = type.is_object() && type.contains("name");
    if (!type.is_string() && !named) throw_unsupported(type);
    const std::string name = type.is_string() ? type.get<std::string>() : document_.get_string(type, "name");
    if (const auto* number = std::ranges::find(kNumbers, name, &NumberType::name); number != kNumbers.end())
      return text(number->has_byte_order ? order_ : '|', number->dtype);
    if (name.starts_with('r') && type.is_string()) return read_raw_bits(type, name);
    if (!type.is_object() || !type.contains("configuration")) throw_unsupported(type);
    const json& configuration = type["configuration"];
    if (name == "null_terminated_bytes") return bytes_dtype('S', read_size(configuration, "length_bytes"));
    if (name == "raw_bytes") return bytes_dtype('V', read_size(configuration, "length_bytes"));
    if (name == "fixed_length_utf32") {
      const std::int64_t bytes = read_size(configuration, "length_bytes");
      if (bytes % 4 != 0) document_.throw_damaged("texts in UTF-32 have ", bytes, " bytes, which is no multiple of 4");
      return text(order_, 'U', bytes / 4);
    }
    if (name == "numpy.datetime64" || name == "numpy.timedelta64")
      return read_time(type, name == "numpy.datetime64" ? 'M' : 'm');
    if (name == "structured" || name == "struct") return read_record_3(type, depth);
    throw_unsupported(type);
  }

  std::string read_version_2(const json& type, int depth) const {
    if (type.is_array()) return read_record_2(type, depth);
    if (!type.is_string()) throw_unsupported(type);
    const std::string& name = type.get_ref<const std::string&>();
    if (name.size() < 3 || std::string_view("|<>").find(name[0]) == std::string_view::npos) throw_unsupported(type);
    const std::string_view spelling = std::string_view(name).substr(1);
    const auto* number = std::ranges::find(kNumbers, spelling, &NumberType::dtype);
    if (number != kNumbers.end() && (!number->has_byte_order || name[0] != '|')) return name;
    std::int64_t count = 0;
    const char* const end = spelling.data() + spelling.size();
    const auto [last, error] = std::from_chars(spelling.data() + 1, end, count);
    if (error != std::errc() || count < 1) throw_unsupported(type);
    if (last == end && (spelling[0] == 'S' || spelling[0] == 'V')) return bytes_dtype(spelling[0], count);
    if (last == end && spelling[0] == 'U' && name[0] != '|') return name;
    if ((spelling[0] == 'M' || spelling[0] == 'm') && count == 8 && name[0] != '|' && is_time_unit({last, end}))
      return name;
    throw_unsupported(type);
  }

 private:
  [[noreturn]] void throw_unsupported(const json& type) const {
    document_.throw_unsupported("its elements have the type ",
                                type.is_string() ? type.get<std::string>() : excerpt(type));
  }

  /// Returns a member of a type's configuration, a number of 1 or more.
  std::int64_t read_size(const json& configuration, const char* name) const {
    if (!configuration.is_object()) document_.throw_damaged("the configuration of a type is ", excerpt(configuration));
    const json& value = document_.get_member(configuration, name);
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() ||
                       value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    if (!fits || value.get<std::int64_t>() < 1)
      document_.throw_damaged("\"", name, "\" is ", excerpt(value), ", which is no number from 1 to 2^63 - 1");
    return value.get<std::int64_t>();
  }

  /// Reads the type `r24` of 24 bits (Zarr core 3.0).
  std::string read_raw_bits(const json& type, const std::string& name) const {
    std::int64_t bits = 0;
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + 1, end, bits);
    if (error != std::errc() || last != end || bits < 8 || bits % 8 != 0) throw_unsupported(type);
    return bytes_dtype('V', bits / 8);
  }

  std::string read_time(const json& type, char kind) const {
    const json& configuration = type["configuration"];
    const std::int64_t scale = read_size(configuration, "scale_factor");
    std::string unit = document_.get_string(configuration, "unit");
    if (unit == "\u03bcs" || unit == "\u00b5s") unit = "us";
    if (std::ranges::find(kTimeUnits, unit) == kTimeUnits.end() || scale > kMaxScale) throw_unsupported(type);
    if (unit == "generic") return text(order_, kind, '8');
    return text(order_, kind, "8[", scale == 1 ? "" : text(scale), unit, ']');
  }

  /// Returns true for the unit at the end of a dtype: nothing, `[ns]` or `[10s]`.
  static bool is_time_unit(std::string_view unit) {
    if (unit.empty()) return true;
    if (!unit.starts_with('[') || !unit.ends_with(']')) return false;
    unit = unit.substr(1, unit.size() - 2);
    const std::size_t letters = std::min(unit.find_first_not_of("0123456789"), unit.size());
    std::int64_t scale = 1;
    const auto error = letters == 0 ? std::errc() : std::from_chars(unit.data(), unit.data() + letters, scale).ec;
    return error == std::errc() && scale >= 1 && scale <= kMaxScale &&
           std::ranges::find(kTimeUnits, unit.substr(letters)) != kTimeUnits.end();
  }

  /// Reads a record, whose fields are `[name, type]` or objects with `name` and `data_type`.
  std::string read_record_3(const json& type, int depth) const {
    const json& fields = document_.get_member(type["configuration"], "fields");
    if (!fields.is_array()) document_.throw_damaged("\"fields\" is ", excerpt(fields));
    if (depth == kMaxRecords) throw_unsupported(type);
    Fields record(document_);
    for (const json& field : fields) {
      if (field.is_array() && field.size() == 2)
        record.add(field[0], read_version_3(field[1], depth + 1), {});
      else if (field.is_object())
        record.add(document_.get_member(field, "name"),
                   read_version_3(document_.get_member(field, "data_type"), depth + 1), {});
      else
        document_.throw_damaged("a field of its elements is ", excerpt(field));
    }
    return record.finish();
  }

  /// Reads a record, whose fields are `[name, type]` or `[name, type, shape]`.
  std::string read_record_2(const json& type, int depth) const {
    if (depth == kMaxRecords) throw_unsupported(type);
    Fields record(document_);
    for (const json& field : type) {
      if (!field.is_array() || field.size() < 2 || field.size() > 3)
        document_.throw_damaged("a field of its elements is ", excerpt(field));
      record.add(field[0], read_version_2(field[1], depth + 1),
                 field.size() == 3 ? read_shape(field[2]) : std::string());
    }
    return record.finish();
  }

  std::string read_shape(const json& value) const {
    const json extents = value.is_array() ? value : json::array({value});
    const Extents sizes = document_.get_extents(json{{"shape", extents}}, "shape", 0);
    if (sizes.empty()) return {};
    std::string out;
    for (const std::int64_t size : sizes) base::append_parts(out, out.empty() ? "(" : " ", size, ',');
    if (sizes.size() > 1) out.pop_back();
    return out + ')';
  }

  const Document& document_;
  char order_;
};

/// Checks that the size of an element fits into 64 bits and is not 0. Returns the dtype.
std::string check_element_size(const Document& document, std::string dtype) {
  try {
    npy::dtype_bytes(dtype);
  } catch (const Error& error) {
    document.throw_unsupported("its elements have a type without a usable size (", error.what(), ')');
  }
  return dtype;
}

}  // namespace

std::string bytes_dtype(char kind, std::int64_t bytes) { return text('|', kind, bytes); }

std::string read_data_type(const Document& document, const json& data_type, char order) {
  return check_element_size(document, TypeReader(document, order).read_version_3(data_type, 0));
}

std::string read_dtype(const Document& document, const json& dtype) {
  return check_element_size(document, TypeReader(document).read_version_2(dtype, 0));
}

}  // namespace plait::container::zarr
