/// What a kind of device is called and made with.
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

/// What a number stands for; texts of it have a unit.
enum class Unit : std::uint8_t { kTime, kBytes, kRate, kCount, kShare, kChoice };

/// A parameter of a device.  Times in seconds, sizes in bytes, rates in bytes a second.
struct DeviceParameter {
  std::string_view name;
  Unit unit;
  double fallback;  ///< of a choice its number
  std::string_view about;
  std::string_view choices = {};  ///< words with commas between
};

/// Parameters by name, as they were given; what is missing has its default.
using DeviceValues = std::vector<std::pair<std::string, double>>;

class DeviceArguments {
 public:
  /// errors  kArgument: a parameter that the device does not have, or a value below 0 or not finite.
  DeviceArguments(std::string_view device, std::span<const DeviceParameter> known, const DeviceValues& given);

  double number(std::string_view name) const;
  Time time(std::string_view name) const;
  /// errors  kArgument: below 1.
  std::int64_t count(std::string_view name) const;
  /// Bytes a second.
  /// errors  kArgument: less than one byte a second.
  double rate(std::string_view name) const;

 private:
  std::string device_;
  std::vector<std::pair<std::string_view, double>> values_;
};

/// ns that bytes take at a rate; at most 2^53, some 100 days, so that sums are numbers too.
inline Time transfer_time(std::int64_t bytes, double rate) {
  return static_cast<Time>(std::min(static_cast<double>(bytes) / rate * 1e9 + 0.5, 0x1p53));
}

/// Where a device stands.
struct DeviceSite {
  EventQueue& clock;
  Completion& completion;
  std::string name;
  std::int64_t span = 0;  ///< bytes from the first address to behind the last
};

struct DeviceKind {
  std::string_view name;
  std::string_view about;
  std::span<const DeviceParameter> parameters;
  std::unique_ptr<Device> (*make)(const DeviceSite& site, const DeviceArguments& arguments) = nullptr;
};

/// In the order in which they are listed.
std::span<const DeviceKind* const> device_kinds();

/// A device that was asked for.
struct DeviceSpec {
  std::string kind;
  DeviceValues values;
  std::int64_t count = 1;   ///< devices alike, over which addresses lie in stripes
  std::int64_t stripe = 0;  ///< bytes of a stripe; needed where there are several
  Time flush = 0;           ///< of a flush; see FlushedDevice
  std::int64_t flush_writes = 0;

  bool takes_flushes() const noexcept { return flush > 0 || flush_writes > 0; }
};

/// errors  kArgument: no such kind, with those that there are and the nearest; and those of DeviceArguments.
std::unique_ptr<Device> make_device(const DeviceSpec& spec, const DeviceSite& site);

const DeviceKind& distance_disk();
const DeviceKind& queueing_disk();
const DeviceKind& solid_state();
const DeviceKind& limited_volume();
const DeviceKind& parallel_servers();
const DeviceKind& single_server();

}  // namespace plait::simulation
