/// The arguments of a layout, as Python passes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "plait/layout.hpp"

namespace plait::python {

/// A distribution; None stands for a dimension that is not distributed.
using DistributionText = std::variant<std::string, std::vector<std::optional<std::string>>>;
using NumberOrNumbers = std::variant<std::int64_t, Extents>;
using NumbersOrName = std::variant<std::string, std::vector<std::int64_t>>;
using HaloWidth = std::variant<std::int64_t, std::pair<std::int64_t, std::int64_t>>;
using AlignmentText = std::variant<std::string, std::vector<std::variant<std::int64_t, std::string>>>;

/// Arguments that the text of the distributions may also contain.
struct Keywords {
  std::optional<NumberOrNumbers> grid;
  std::optional<NumbersOrName> ranks;
  std::optional<NumbersOrName> order;
  std::optional<std::vector<int>> replicate;
  std::optional<Extents> source;
  std::optional<Extents> offset;
  std::optional<std::vector<int>> reverse;
  std::optional<std::vector<HaloWidth>> halo;
  std::optional<std::vector<int>> periodic;
  std::optional<Extents> template_shape;
  std::optional<AlignmentText> align;
};

/// Converts one number or several to extents.
Extents to_extents(const NumberOrNumbers& extents);

/// Converts "C" or "F", in either case. or_list: the caller also accepts a list of numbers.
Order parse_order(const std::string& name, const char* what, bool or_list = true);

/// Makes a layout.
/// errors  kArgument: the arguments do not fit together, or contradict the text.
Layout make_layout(const Extents& shape, const DistributionText& dist, const Keywords& keywords);

}  // namespace plait::python
