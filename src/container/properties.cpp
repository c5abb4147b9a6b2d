#include "container/properties.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/text.hpp"

namespace plait::container {

namespace {

template <class Value>
bool is_stated(const std::optional<Value>& value) {
  return value.has_value();
}

template <class Values>
bool is_stated(const Values& values) {
  return !values.empty();
}

void append_value(std::string& out, const std::optional<Extents>& shape) { out += shape_to_string(*shape); }

void append_value(std::string& out, const std::string& text) { out += text; }

template <class Value>
void append_value(std::string& out, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) base::append_parts(out, i == 0 ? "" : " ", values[i]);
}

/// Appends the number of attributes, because only rank 0 needs their values to write them, and the value of _FillValue,
/// which every rank needs.
void append_value(std::string& out, const ArrayAttributes& attributes) {
  base::append_parts(out, attributes.size());
  for (const ArrayAttribute& attribute : attributes) {
    if (attribute.name != "_FillValue") continue;
    base::append_parts(out, ", ", attribute.name, ' ', attribute.dtype, ' ', shape_to_string(attribute.shape));
    for (const std::byte byte : attribute.values) base::append_parts(out, ' ', std::to_integer<int>(byte));
  }
}

}  // namespace

const char* find_stated_property(const ArrayProperties& array) {
  const char* first = nullptr;
  for_each_property([&](const char*, const char* title, auto member) {
    if (first == nullptr && is_stated(array.*member)) first = title;
  });
  return first;
}

bool describes_storage(const ArrayProperties& array) {
  bool found = false;
  for_each_property([&](const char*, const char*, auto member) {
    if constexpr (!std::is_same_v<decltype(member), ArrayAttributes ArrayProperties::*>)
      found = found || is_stated(array.*member);
  });
  return found;
}

void apply_defaults(ArrayProperties& array, const ArrayProperties& defaults) {
  for_each_property([&](const char*, const char*, auto member) {
    if (!is_stated(array.*member)) array.*member = defaults.*member;
  });
}

std::string properties_text(const ArrayProperties& array) {
  std::string out;
  for_each_property([&](const char* name, const char*, auto member) {
    if (!is_stated(array.*member)) return;
    base::append_parts(out, ", ", name, ' ');
    append_value(out, array.*member);
  });
  return out;
}

}  // namespace plait::container
