/// Types and signatures for the stubs of the modules, where the C++ type is not specific enough.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/typing.h>

#include <string>

#include "plait/step.hpp"

namespace plait::python {

using NumberTuple = nanobind::typed<nanobind::tuple, int, nanobind::ellipsis>;
using TextTuple = nanobind::typed<nanobind::tuple, nanobind::str, nanobind::ellipsis>;
template <typename Numbers>
NumberTuple to_tuple(const Numbers& numbers) {
  nanobind::list list;
  for (const auto number : numbers) list.append(number);
  return NumberTuple(nanobind::tuple(list));
}

/// Local arrays as they are, or as (address, strides in bytes); or slices of a region.
using Sequence = nanobind::typed<nanobind::sequence, nanobind::any>;

/// Attributes with integers, real numbers and texts.
using AttributeDict = nanobind::typed<nanobind::dict, std::string, Attribute>;

/// The end of the error about an argument that is no number.
constexpr const char* kNumber = "is not a whole number; give one, such as 0";

constexpr const char* kEqual = "def __eq__(self, other: object, /) -> bool";
constexpr const char* kFail = "def fail(self, message: str, code: int = 0) -> typing.NoReturn";
constexpr const char* kFailOpen = "def fail_open(message: str, comm: Comm, code: int = 0) -> typing.NoReturn";

}  // namespace plait::python
