// Stripes over several devices.
//
// Example: stripes of 64 KiB over 3 devices. Of the first 200 KiB, one row of 192 KiB is complete and gives each
// device 64 KiB. The last 8 KiB are on device 0, so before(200 KiB) is 72, 64 and 64 KiB. The piece of a request on a
// device is from before(begin) to before(end), because its stripes are contiguous there.

#include "simulation/devices/striped.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace plait::simulation {

StripedDevice::StripedDevice(const DeviceSite& site, const DeviceSpec& spec, const DeviceKind& kind,
                             const DeviceArguments& arguments)
    : Device(site.clock, site.completion), stripe_(spec.stripe) {
  for (std::int64_t k = 0; k < spec.count; ++k)
    devices_.push_back(
        kind.make({site.clock, *this, base::text(site.name, ' ', k + 1), site.span / spec.count + 1}, arguments));
}

std::int64_t StripedDevice::before(std::int64_t address, std::size_t device) const {
  const auto count = static_cast<std::int64_t>(devices_.size());
  const std::int64_t row = stripe_ * count;
  const std::int64_t rest = address % row - static_cast<std::int64_t>(device) * stripe_;
  return address / row * stripe_ + std::clamp<std::int64_t>(rest, 0, stripe_);
}

void StripedDevice::submit(const DeviceRequest& request) {
  if (free_.empty()) {
    free_.push_back(wholes_.size());
    wholes_.emplace_back();
  }
  current_ = free_.back();
  free_.pop_back();
  wholes_[current_] = {request.tag, 0};
  const std::int64_t end = request.address + request.length;
  const auto count = static_cast<std::int64_t>(devices_.size());
  const std::int64_t first = request.address / stripe_;
  const std::int64_t stripes = std::min((end - 1) / stripe_ - first + 1, count);
  for (std::int64_t k = 0; k < stripes; ++k) {
    const auto device = static_cast<std::size_t>((first + k) % count);
    piece(device, before(request.address, device), before(end, device), request);
  }
}

void StripedDevice::piece(std::size_t device, std::int64_t begin, std::int64_t end, const DeviceRequest& whole) {
  ++wholes_[current_].pieces;
  devices_[device]->submit({begin, end - begin, whole.write, current_});
}

void StripedDevice::done(std::uint64_t tag) {
  if (--wholes_[tag].pieces > 0) return;
  const std::uint64_t whole = wholes_[tag].tag;
  free_.push_back(tag);
  completion_.done(whole);
}

void StripedDevice::report(std::vector<DeviceUse>& all) const {
  for (const auto& device : devices_) device->report(all);
}

void StripedDevice::report_parts(std::vector<DeviceUse>& all) const {
  for (const auto& device : devices_) device->report_parts(all);
}

}  // namespace plait::simulation
