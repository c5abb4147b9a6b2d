// The parameters of a replacement policy: parsing `small=10%&fill=main` and converting amounts to blocks.

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/errors.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

namespace {

/// Returns the bytes in a unit; 0: it is not a unit.
double unit_bytes(std::string_view unit) {
  constexpr std::string_view kLetters = "KMGT";
  if (unit == "B") return 1;
  const std::size_t power = unit.empty() ? std::string_view::npos : kLetters.find(unit.front());
  if (power == std::string_view::npos || (unit.size() > 1 && unit.substr(1) != "iB")) return 0;
  return std::ldexp(1.0, 10 * (static_cast<int>(power) + 1));
}

}  // namespace

Parameters::Parameters(std::string_view policy, std::string_view text, std::string_view known)
    : policy_(policy), arguments_(split(policy, text)), defaults_(split(policy, known)) {
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    const std::string& name = arguments_[k].name;
    if (std::ranges::find(defaults_, name, &Parameter::name) == defaults_.end())
      base::throw_argument_error(
          "the replacement policy ", policy_, " has no parameter '", name, "'; ",
          known.empty() ? std::string("it has none") : base::text("it is asked for as ", policy_, '?', known));
    if (std::ranges::find(arguments_.begin(), arguments_.begin() + static_cast<std::ptrdiff_t>(k), name,
                          &Parameter::name) != arguments_.begin() + static_cast<std::ptrdiff_t>(k))
      base::throw_argument_error("the parameter '", name, "' of the replacement policy ", policy_,
                                 " is given twice; give it once");
  }
}

std::vector<Parameters::Parameter> Parameters::split(std::string_view policy, std::string_view text) {
  std::vector<Parameter> all;
  while (!text.empty()) {
    const std::string_view parameter = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), parameter.size() + 1));
    const std::size_t equal = parameter.find('=');
    if (equal == std::string_view::npos || equal == 0)
      base::throw_argument_error("'", parameter, "' is no parameter of the replacement policy ", policy,
                                 "; write name=value");
    all.push_back({std::string(parameter.substr(0, equal)), std::string(parameter.substr(equal + 1))});
  }
  return all;
}

std::string_view Parameters::text(std::string_view name) const {
  const auto parameter = std::ranges::find(arguments_, name, &Parameter::name);
  return parameter != arguments_.end() ? parameter->value : std::ranges::find(defaults_, name, &Parameter::name)->value;
}

Slot Parameters::blocks(std::string_view name, const CacheShape& shape, std::uint32_t max_caches) const {
  const std::string_view value = text(name);
  const std::string what = base::text(name, '=', value, " of the replacement policy ", policy_);
  double amount = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), amount, std::chars_format::fixed);
  const std::string_view unit = value.substr(static_cast<std::size_t>(end - value.data()));
  if (error != std::errc() || !(amount >= 0) || !std::isfinite(amount))
    base::throw_argument_error(what, " is no amount; give a share of the cache such as 25%, or bytes such as 4MiB");
  if (unit.empty())
    base::throw_argument_error(what, " has no unit; give a share of the cache such as 25%, or bytes such as 4MiB");
  double blocks = 0;
  if (unit == "%") {
    blocks = shape.slots * amount / 100;
  } else {
    const double bytes = unit_bytes(unit);
    if (bytes == 0)
      base::throw_argument_error(what, " has the unit '", unit, "'; units are %, B, KiB, MiB, GiB and TiB");
    if (shape.block == 0)
      base::throw_argument_error(
          what, " is in bytes, but the blocks of this cache have no size; give a share of it such as 25%");
    blocks = amount * bytes / static_cast<double>(shape.block);
  }
  if (amount == 0) base::throw_argument_error(what, " is nothing; give more than 0");
  if (blocks > static_cast<double>(shape.slots) * max_caches)
    base::throw_argument_error(what, " is more than ",
                               max_caches == 1 ? std::string() : base::text(max_caches, " times "), "the cache of ",
                               shape.slots, " blocks; give less");
  return std::max<Slot>(1, static_cast<Slot>(blocks));
}

}  // namespace plait::simulation
