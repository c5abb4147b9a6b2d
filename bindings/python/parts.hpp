/// Local arrays as Python passes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "plait/file.hpp"

namespace plait::python {

/// Converts (address, strides in bytes) of each local array.
template <typename Byte>
std::vector<ArrayPart<Byte>> to_parts(const nanobind::sequence& parts) {
  std::vector<ArrayPart<Byte>> result;
  for (const nanobind::handle part : parts)
    result.push_back(
        {reinterpret_cast<Byte*>(nanobind::cast<std::uintptr_t>(part[0])), nanobind::cast<Extents>(part[1])});
  return result;
}

}  // namespace plait::python
