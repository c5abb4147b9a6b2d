#include "container/attributes.hpp"

#include <algorithm>
#include <set>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/encoding.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/npy_header.hpp"

namespace plait::container {

using base::text;

const ArrayAttribute* find_attribute(const ArrayAttributes& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &ArrayAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::int64_t value_count(const ArrayAttribute& attribute) {
  std::int64_t count = 1;
  for (const std::int64_t extent : attribute.shape)
    if (__builtin_mul_overflow(count, extent, &count)) return INT64_MAX;
  return count;
}

ArrayAttribute text_attribute(std::string name, std::string text) {
  ArrayAttribute attribute{std::move(name), ArrayAttribute::kTexts};
  attribute.texts.push_back(std::move(text));
  return attribute;
}

std::string to_utf8(std::string_view bytes) {
  return npy::is_utf8(bytes) ? std::string(bytes) : npy::latin1_to_utf8(bytes);
}

void check_attributes(const ArrayAttributes& attributes, const std::string& where) {
  std::set<std::string_view> names;
  for (const ArrayAttribute& attribute : attributes) {
    if (attribute.name.empty() || attribute.name.find('\0') != std::string::npos || !npy::is_utf8(attribute.name))
      base::throw_argument_error(
          where,
          ": an attribute has an empty name, or one that is not UTF-8 or contains a zero byte; give it "
          "another one");
    if (!names.insert(attribute.name).second)
      base::throw_argument_error(where, ": two attributes have the name \"", attribute.name,
                                 "\"; give each a name of its own");
    if (!attribute.error.empty())
      base::throw_argument_error(where, ": the attribute \"", attribute.name, "\" has no value: ", attribute.error);
    if (!std::ranges::all_of(attribute.texts, npy::is_utf8))
      base::throw_argument_error(where, ": the attribute \"", attribute.name,
                                 "\" has a text that is not UTF-8; use that encoding");
    const std::int64_t count = value_count(attribute);
    const bool has_texts = attribute.is_texts() || attribute.is_json();
    const std::int64_t value_bytes = has_texts ? 1 : npy::dtype_bytes(attribute.dtype);
    if (count < 0 || value_bytes < 1 ||
        (has_texts ? attribute.texts.size() : attribute.values.size() / static_cast<std::size_t>(value_bytes)) !=
            static_cast<std::size_t>(count))
      base::throw_argument_error(where, ": the attribute \"", attribute.name, "\" has other values than its shape ",
                                 shape_to_string(attribute.shape), " and its type ", attribute.dtype,
                                 " say; give as many");
  }
}

}  // namespace plait::container
