// The list of all kinds of devices, the checks of their arguments, and make_device().

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "simulation/devices/device_kind.hpp"
#include "simulation/devices/striped.hpp"

namespace plait::simulation {

namespace {

// Largest stripe for which a row of stripes does not overflow.
constexpr std::int64_t kMaxStripe = std::int64_t{1} << 40;

/// Returns `; the nearest is 'X'`, or an empty string.
std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = base::nearest(word, known);
  return nearest.empty() ? std::string() : base::text("; the nearest is '", nearest, '\'');
}

}  // namespace

std::span<const DeviceKind* const> device_kinds() {
  static const std::array kAll{&distance_disk(),  &queueing_disk(),    &solid_state(),
                               &limited_volume(), &parallel_servers(), &single_server()};
  return kAll;
}

DeviceArguments::DeviceArguments(std::string_view device, std::span<const DeviceParameter> known,
                                 const DeviceValues& values)
    : device_(device) {
  std::vector<std::string_view> names;
  for (const DeviceParameter& parameter : known) {
    names.push_back(parameter.name);
    values_.emplace_back(parameter.name, parameter.fallback);
  }
  for (const auto& [name, value] : values) {
    const auto entry = std::ranges::find(values_, name, [](const auto& pair) { return pair.first; });
    if (entry == values_.end())
      base::throw_argument_error("the device '", device, "' has no parameter '", name, "'; it has ",
                                 base::list_text(names), suggestion(name, names));
    if (!std::isfinite(value) || value < 0 || value > 1e15)
      base::throw_argument_error("found ", name, '=', value, " of the device '", device,
                                 "', expected a number from 0 to 1e15; correct it");
    entry->second = value;
  }
}

double DeviceArguments::number(std::string_view name) const {
  return std::ranges::find(values_, name, [](const auto& pair) { return pair.first; })->second;
}

Time DeviceArguments::time(std::string_view name) const {
  return static_cast<Time>(std::llround(std::min(number(name), 1e9) * 1e9));
}

std::int64_t DeviceArguments::count(std::string_view name) const {
  const double value = number(name);
  if (value < 1 || value != std::floor(value))
    base::throw_argument_error("found ", name, '=', value, " of the device '", device_,
                               "', expected a whole number of 1 or above; correct it");
  return static_cast<std::int64_t>(value);
}

double DeviceArguments::rate(std::string_view name) const {
  const double value = number(name);
  if (value < 1)
    base::throw_argument_error("found ", name, '=', value, " of the device '", device_,
                               "', expected a rate of at least one byte a second; correct it");
  return value;
}

std::unique_ptr<Device> make_device(const DeviceSpec& spec, const DeviceSite& site) {
  std::vector<std::string_view> names;
  for (const DeviceKind* kind : device_kinds()) {
    names.push_back(kind->name);
    if (kind->name != spec.kind) continue;
    const DeviceArguments arguments(kind->name, kind->parameters, spec.values);
    if (spec.count == 1) return kind->make(site, arguments);
    if (spec.count < 1 || spec.count > 65536 || spec.stripe < 1 || spec.stripe > kMaxStripe)
      base::throw_argument_error(
          "found ", spec.count, " devices with stripes of ", spec.stripe,
          " bytes, expected 1 to 65536 devices, and a stripe of 1 byte to 1 TiB for several; set both");
    return std::make_unique<StripedDevice>(site, spec, *kind, arguments);
  }
  base::throw_argument_error("there is no device '", spec.kind, "'; use one of ", base::list_text(names),
                             suggestion(spec.kind, names));
}

}  // namespace plait::simulation
