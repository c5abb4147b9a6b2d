/// Steps: rounds of arrays, one after the other, that a program hands to another one through a pipe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace plait {

/// A small value that goes along with a step.
using Attribute = std::variant<std::int64_t, double, std::string>;
using Attributes = std::map<std::string, Attribute>;

/// A step that is being read or written.
struct Step {
  std::int64_t number = 0;  ///< counts from 0
  Attributes attributes;
  std::vector<std::string> variables;  ///< its arrays, in the order in which they were written
};

}  // namespace plait
