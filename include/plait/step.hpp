/// Steps: the arrays that one program passes to another through a pipe together, step after step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace plait {

/// A value that a writer sends with a step: an integer, a real number or a text.
using Attribute = std::variant<std::int64_t, double, std::string>;
using Attributes = std::map<std::string, Attribute>;

/// The step that is being read or written.
struct Step {
  std::int64_t number = 0;  ///< counts from 0
  Attributes attributes;
  std::vector<std::string> variables;  ///< its arrays, in the order in which they were written
};

}  // namespace plait
