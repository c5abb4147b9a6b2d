#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/attributes_json.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/literal.hpp"
#include "container/zarr/elements/element_types.hpp"
#include "container/zarr/elements/numbers.hpp"

namespace plait::container::zarr {

namespace {

using npy::Literal;
using OrderedJson = nlohmann::ordered_json;

/// Writes types in the notation of one version.
class TypeWriter {
 public:
  TypeWriter(const std::string& path, bool is_version_2) : path_(path), is_version_2_(is_version_2) {}

  OrderedJson write(const std::string& dtype) const {
    if (dtype.starts_with('[')) return write_record(npy::parse_literal(dtype));
    return write_simple(dtype, false);
  }

 private:
  [[noreturn]] void reject(std::string_view dtype) const {
    base::throw_argument_error(path_, ": Zarr has no type for elements of dtype ", dtype.empty() ? "unknown" : dtype,
                               "; give numbers, bool, texts or bytes of a fixed size, times or "
                               "records of these, or write a .npy file");
  }

  static OrderedJson with_configuration(const char* name, OrderedJson configuration) {
    return {{"name", name}, {"configuration", std::move(configuration)}};
  }

  OrderedJson write_simple(std::string_view dtype, bool in_record) const {
    if (dtype.size() < 2) reject(dtype);
    const std::string_view spelling = dtype.substr(1);
    const auto* number = std::ranges::find(kNumbers, spelling, &NumberType::dtype);
    const bool is_number = number != kNumbers.end() && (dtype[0] != '|' || !number->has_byte_order);
    if (!is_number && std::string_view("SVUMm").find(spelling[0]) == std::string_view::npos) reject(dtype);
    if (is_version_2_) {
      if (is_number && !number->has_byte_order) return base::text('|', spelling);
      return std::string(dtype);
    }
    if (in_record && dtype[0] == '>')
      base::throw_argument_error(
          path_, ": a field has the dtype ", dtype,
          ", but records of Zarr's version 3 have little-endian fields only; convert the "
          "elements (target_dtype, --target-dtype), or write version 2 (zarr2: in front of the name)");
    if (is_number) return std::string(number->name);
    std::int64_t count = 0;
    const char* const end = spelling.data() + spelling.size();
    const char* const last = std::from_chars(spelling.data() + 1, end, count).ptr;
    if (spelling[0] == 'S') return with_configuration("null_terminated_bytes", {{"length_bytes", count}});
    if (spelling[0] == 'V') return with_configuration("raw_bytes", {{"length_bytes", count}});
    if (spelling[0] == 'U') return with_configuration("fixed_length_utf32", {{"length_bytes", 4 * count}});
    return write_time(spelling[0] == 'M' ? "numpy.datetime64" : "numpy.timedelta64", {last, end});
  }

  /// unit: as at the end of a dtype, such as `[10s]`, or nothing.
  static OrderedJson write_time(const char* name, std::string_view unit) {
    std::int64_t scale = 1;
    if (unit.size() > 2) {
      unit = unit.substr(1, unit.size() - 2);
      const char* const end = unit.data() + unit.size();
      const auto [last, error] = std::from_chars(unit.data(), end, scale);
      if (error == std::errc()) unit = {last, end};
    } else {
      unit = "generic";
    }
    return with_configuration(name, {{"unit", unit}, {"scale_factor", scale}});
  }

  OrderedJson write_record(const Literal& type) const {
    OrderedJson fields = OrderedJson::array();
    for (const Literal& field : type.items) {
      // A field with a title has a pair of title and name.
      const Literal& named = field.items[0];
      const std::string& name = named.items.size() == 2 ? named.items[1].string : named.string;
      if (!npy::is_utf8(name)) base::throw_argument_error(path_, ": the name of a field is not UTF-8; rename it");
      const Literal& inner = field.items[1];
      OrderedJson field_json = OrderedJson::array({marked_text(name), inner.kind == Literal::Kind::kSequence
                                                                          ? write_record(inner)
                                                                          : write_simple(inner.string, true)});
      if (field.items.size() == 3) add_shape(field_json, field.items[2]);
      fields.push_back(std::move(field_json));
    }
    if (is_version_2_) return fields;
    return with_configuration("structured", {{"fields", std::move(fields)}});
  }

  void add_shape(OrderedJson& field, const Literal& shape) const {
    if (!is_version_2_)
      base::throw_argument_error(
          path_, ": the field ", field[0].dump(), " is an array of the shape ", shape.text,
          ", which Zarr's version 3 does not have; write version 2 (zarr2: in front of the name)");
    OrderedJson extents = OrderedJson::array();
    if (shape.kind != Literal::Kind::kSequence) extents.push_back(shape.integer);
    for (const Literal& extent : shape.items) extents.push_back(extent.integer);
    field.push_back(std::move(extents));
  }

  const std::string& path_;
  bool is_version_2_;
};

}  // namespace

char dtype_kind(std::string_view dtype) {
  if (dtype.starts_with('[')) return 'V';
  return dtype.size() > 1 ? dtype[1] : '\0';
}

bool has_byte_order(std::string_view dtype) { return dtype.starts_with('<') || dtype.starts_with('>'); }

OrderedJson data_type_json(const std::string& dtype, const std::string& path) {
  return TypeWriter(path, /*is_version_2=*/false).write(dtype);
}

OrderedJson dtype_json(const std::string& dtype, const std::string& path) {
  return TypeWriter(path, /*is_version_2=*/true).write(dtype);
}

}  // namespace plait::container::zarr
