/// The kinds of devices, their parameters, and the functions that make devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/devices/device.hpp"

namespace plait::simulation {

/// The unit of a number. Its text form contains the unit.
enum class Unit : std::uint8_t { kTime, kBytes, kRate, kCount, kShare, kChoice };

/// A parameter of a device. Times are in seconds, sizes in bytes, rates in bytes per second.
struct DeviceParameter {
  std::string_view name;
  Unit unit;
  double fallback;  ///< default value; for a choice its index
  std::string_view about;
  std::string_view choices = {};  ///< names separated by commas
};

/// Parameters by name with the values from the user, or their defaults.
using DeviceValues = std::vector<std::pair<std::string, double>>;

/// The values of all parameters of one device, from the user or by default.
class DeviceArguments {
 public:
  /// errors  kArgument: a parameter that the device does not have, or a value that is negative, above 1e15 or not
  /// finite.
  DeviceArguments(std::string_view device, std::span<const DeviceParameter> known, const DeviceValues& given);

  double number(std::string_view name) const;
  Time time(std::string_view name) const;
  /// Returns a positive whole number.
  /// errors  kArgument: below 1, or not whole.
  std::int64_t count(std::string_view name) const;
  /// Returns a rate in bytes per second.
  /// errors  kArgument: less than one byte per second.
  double rate(std::string_view name) const;

 private:
  std::string device_;
  std::vector<std::pair<std::string_view, double>> values_;
};

/// Time in ns to transfer bytes at a rate, at most 2^53 (about 100 days), so that sums do not overflow.
inline Time transfer_time(std::int64_t bytes, double rate) {
  return static_cast<Time>(std::min(static_cast<double>(bytes) / rate * 1e9 + 0.5, 0x1p53));
}

/// What a device needs from the simulation: the clock, the receiver of completed requests, its name and its size.
struct DeviceSite {
  EventQueue& clock;
  Completion& completion;
  std::string name;
  std::int64_t span = 0;  ///< number of bytes from the first address to the end of the last file
};

/// A kind of device in the registry.
struct DeviceKind {
  std::string_view name;
  std::string_view about;
  std::span<const DeviceParameter> parameters;
  std::unique_ptr<Device> (*make)(const DeviceSite& site, const DeviceArguments& arguments) = nullptr;
};

/// All kinds in the order of listings.
std::span<const DeviceKind* const> device_kinds();

/// A device with its parameters.
struct DeviceSpec {
  std::string kind;
  DeviceValues values;
  std::int64_t count = 1;   ///< number of equal devices, over which addresses are striped
  std::int64_t stripe = 0;  ///< bytes of a stripe; required if there are several devices
  Time flush = 0;           ///< time of a flush; see FlushedDevice
  std::int64_t flush_writes = 0;

  bool takes_flushes() const noexcept { return flush > 0 || flush_writes > 0; }
};

/// Makes a device.
/// errors  kArgument: an unknown kind, with all kinds and the nearest one; and those of DeviceArguments.
std::unique_ptr<Device> make_device(const DeviceSpec& spec, const DeviceSite& site);

const DeviceKind& distance_disk();
const DeviceKind& queueing_disk();
const DeviceKind& solid_state();
const DeviceKind& limited_volume();
const DeviceKind& parallel_servers();
const DeviceKind& single_server();

}  // namespace plait::simulation
