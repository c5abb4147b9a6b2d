// Attributes of arrays in files.

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "container/attributes.hpp"
#include "container/attributes_json.hpp"
#include "container/npy/npy_header.hpp"
#include "objects.hpp"
#include "options.hpp"

using namespace plait::c;
using plait::ArrayAttribute;

namespace {

const ArrayAttribute& find_array_attribute(const plait_file* file, const char* name) {
  const plait::File& file_object = to_file(file);
  const std::string requested_name = to_text(name, "name");
  const ArrayAttribute* const match = plait::container::find_attribute(file_object.attributes(), requested_name);
  if (match == nullptr) {
    std::string all;
    for (const ArrayAttribute& attribute : file_object.attributes()) all += (all.empty() ? "" : ", ") + attribute.name;
    plait::base::throw_argument_error(file_object.path(), " has no attribute \"", requested_name, "\"; it has ",
                                      all.empty() ? "none" : all);
  }
  if (!match->error.empty())
    plait::base::throw_argument_error("the attribute \"", requested_name, "\" cannot be read: ", match->error);
  return *match;
}

/// Stores the numbers of an attribute, converted by `take`, if they are of one of the kinds.
template <typename Value, typename Take>
void store_values(const ArrayAttribute& from, std::string_view kinds, Value* values, std::int64_t capacity,
                  const Take& take) {
  if (from.is_texts() || from.is_json() || kinds.find(from.dtype[1]) == std::string_view::npos)
    plait::base::throw_argument_error("the attribute \"", from.name, "\" is ", from.dtype, ", not ",
                                      kinds.find('f') == std::string_view::npos ? "integers" : "reals",
                                      "; ask plait_file_attribute_type");
  const std::int64_t count = plait::container::value_count(from);
  if (count > capacity)
    plait::base::throw_argument_error("values has room for ", capacity, " numbers, but the attribute \"", from.name,
                                      "\" has ", count, "; make it larger");
  if (count == 0) return;
  Value* const into = &output(values, "values");
  const auto bytes = static_cast<std::size_t>(plait::container::npy::dtype_bytes(from.dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto begin = from.values.begin() + static_cast<std::ptrdiff_t>(bytes) * i;
    into[i] =
        take(ArrayAttribute{from.name, from.dtype, {}, {begin, begin + static_cast<std::ptrdiff_t>(bytes)}, {}, {}});
  }
}

/// Sets an attribute. Its value is made before the collective call, which fails on all ranks if that throws.
template <typename Value>
plait_status set_checked(plait_file* file, Value&& value) {
  return guarded(file, [&] {
    plait::File& file_object = to_file(file);
    const auto report = [&file_object](const std::string& message, int code) { file_object.fail(message, code); };
    file_object.set_attribute(run_checks(report, value));
  });
}

}  // namespace

plait_status plait_file_attributes(const plait_file* file, int* count) {
  return guarded(file, [&] { output(count, "count") = static_cast<int>(to_file(file).attributes().size()); });
}

plait_status plait_file_attribute_name(const plait_file* file, int number, char** name) {
  if (name != nullptr) *name = nullptr;
  return guarded(file, [&] {
    const auto& all = to_file(file).attributes();
    if (number < 0 || static_cast<std::size_t>(number) >= all.size())
      plait::base::throw_argument_error("the array has ", all.size(), " attributes, but number ", number,
                                        " was asked for; they count from 0");
    store_text(name, "name", [&] { return all[static_cast<std::size_t>(number)].name; });
  });
}

plait_status plait_file_attribute_type(const plait_file* file, const char* name, char** dtype, int* dimensions,
                                       int64_t* count) {
  if (dtype != nullptr) *dtype = nullptr;
  return guarded(file, [&] {
    const ArrayAttribute& attribute = find_array_attribute(file, name);
    if (dtype != nullptr) *dtype = copy_text(attribute.dtype);
    if (dimensions != nullptr) *dimensions = static_cast<int>(attribute.shape.size());
    if (count != nullptr) *count = plait::container::value_count(attribute);
  });
}

plait_status plait_file_attribute_integers(const plait_file* file, const char* name, int64_t* values,
                                           int64_t capacity) {
  return guarded(file, [&] {
    store_values(find_array_attribute(file, name), "iub", values, capacity, [](const ArrayAttribute& element) {
      const nlohmann::json number = plait::container::number_to_json(element);
      if (number.is_boolean()) return static_cast<std::int64_t>(number.get<bool>());
      if (number.is_number_unsigned() && number.get<std::uint64_t>() > INT64_MAX)
        plait::base::throw_argument_error("the attribute \"", element.name, "\" is ", number.get<std::uint64_t>(),
                                          ", more than an int64_t has; get it as a real");
      return number.get<std::int64_t>();
    });
  });
}

plait_status plait_file_attribute_reals(const plait_file* file, const char* name, double* values, int64_t capacity) {
  return guarded(file, [&] {
    store_values(find_array_attribute(file, name), "iubf", values, capacity, [](const ArrayAttribute& element) {
      if (element.dtype[1] == 'f') return plait::container::real_value(element);
      const nlohmann::json number = plait::container::number_to_json(element);
      return number.is_boolean() ? static_cast<double>(number.get<bool>()) : number.get<double>();
    });
  });
}

plait_status plait_file_attribute_text(const plait_file* file, const char* name, int64_t number, char** value) {
  if (value != nullptr) *value = nullptr;
  return guarded(file, [&] {
    const ArrayAttribute& attribute = find_array_attribute(file, name);
    if (!attribute.is_texts() && !attribute.is_json())
      plait::base::throw_argument_error("the attribute \"", attribute.name, "\" is ", attribute.dtype,
                                        ", not text; ask plait_file_attribute_type");
    if (number < 0 || static_cast<std::size_t>(number) >= attribute.texts.size())
      plait::base::throw_argument_error("the attribute \"", attribute.name, "\" has ", attribute.texts.size(),
                                        " texts, but number ", number, " was asked for; they count from 0");
    store_text(value, "text", [&] { return attribute.texts[static_cast<std::size_t>(number)]; });
  });
}

plait_status plait_file_set_attribute(plait_file* file, const char* name, const char* dtype, int dimensions,
                                      const int64_t* shape, const void* values) {
  return set_checked(file, [&] {
    ArrayAttribute attribute{
        to_text(name, "name"), to_text(dtype, "dtype"), to_extents(shape, dimensions, "shape"), {}, {}, {}};
    std::int64_t bytes = plait::container::npy::dtype_bytes(attribute.dtype);
    if (bytes < 1)
      plait::base::throw_argument_error("dtype \"", attribute.dtype,
                                        "\" is no type of numbers; give one such as \"<f8\"");
    for (const std::int64_t extent : attribute.shape) {
      if (extent < 0) plait::base::throw_argument_error("shape has the size ", extent, "; sizes are 0 or more");
      bytes = plait::base::checked_multiply(bytes, extent, "bytes of the attribute");
    }
    if (bytes > 0) {
      const std::byte* const begin = &dereference(static_cast<const std::byte*>(values), "values", "the numbers");
      attribute.values.assign(begin, begin + bytes);
    }
    return attribute;
  });
}

plait_status plait_file_set_attribute_text(plait_file* file, const char* name, const char* value) {
  return set_checked(file,
                     [&] { return plait::container::text_attribute(to_text(name, "name"), to_text(value, "text")); });
}

plait_status plait_file_remove_attribute(plait_file* file, const char* name) {
  return guarded(file, [&] {
    plait::File& file_object = to_file(file);
    const auto report = [&file_object](const std::string& message, int code) { file_object.fail(message, code); };
    file_object.remove_attribute(run_checks(report, [&] { return to_text(name, "name"); }));
  });
}
