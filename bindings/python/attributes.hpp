/// Attributes of arrays and groups as tuples, which Python makes values of.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plait/array_attribute.hpp"

namespace plait::python {

/// Name, dtype, shape, bytes of numbers, texts, why there is no value.
using RawAttribute =
    std::tuple<std::string, std::string, Extents, nanobind::bytes, std::vector<std::string>, std::string>;
/// The name of a group, and its attributes.
using RawGroup = std::tuple<std::string, std::vector<RawAttribute>>;
/// Name, length, whether it has no limit.
using RawDimension = std::tuple<std::string, std::int64_t, bool>;

inline nanobind::bytes bytes_of(const std::vector<std::byte>& bytes) {
  return nanobind::bytes(bytes.data(), bytes.size());
}

inline std::vector<RawAttribute> raw_attributes(const ArrayAttributes& attributes) {
  std::vector<RawAttribute> raw;
  for (const ArrayAttribute& one : attributes)
    raw.emplace_back(one.name, one.dtype, one.shape, bytes_of(one.values), one.texts, one.refused);
  return raw;
}

inline ArrayAttributes attributes_of_raw(const std::vector<RawAttribute>& raw) {
  ArrayAttributes attributes;
  for (const auto& [name, dtype, shape, values, texts, refused] : raw) {
    const auto* begin = static_cast<const std::byte*>(values.data());
    attributes.push_back({name, dtype, shape, {begin, begin + values.size()}, texts, refused});
  }
  return attributes;
}

}  // namespace plait::python
