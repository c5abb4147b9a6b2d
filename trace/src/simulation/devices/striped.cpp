// Addresses striped over several equal devices.
//
// Example: stripes of 64 KiB over 3 devices. Of the first 200 KiB, one row of 192 KiB is complete and gives each device
// 64 KiB. The last 8 KiB are on device 0, so bytes_before(200 KiB) is 72, 64 and 64 KiB. The piece of a request on a
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

std::int64_t StripedDevice::bytes_before(std::int64_t address, std::size_t device) const {
  const auto count = static_cast<std::int64_t>(devices_.size());
  const std::int64_t row = stripe_ * count;
  const std::int64_t stripe_part = address % row - static_cast<std::int64_t>(device) * stripe_;
  return address / row * stripe_ + std::clamp<std::int64_t>(stripe_part, 0, stripe_);
}

void StripedDevice::submit(const DeviceRequest& request) {
  if (free_requests_.empty()) {
    free_requests_.push_back(split_requests_.size());
    split_requests_.emplace_back();
  }
  current_request_ = free_requests_.back();
  free_requests_.pop_back();
  split_requests_[current_request_] = {request.tag, 0};
  const std::int64_t end = request.address + request.length;
  const auto count = static_cast<std::int64_t>(devices_.size());
  const std::int64_t first = request.address / stripe_;
  const std::int64_t stripes = std::min((end - 1) / stripe_ - first + 1, count);
  for (std::int64_t k = 0; k < stripes; ++k) {
    const auto device = static_cast<std::size_t>((first + k) % count);
    submit_piece(device, bytes_before(request.address, device), bytes_before(end, device), request);
  }
}

void StripedDevice::submit_piece(std::size_t device, std::int64_t begin, std::int64_t end,
                                 const DeviceRequest& request) {
  ++split_requests_[current_request_].pieces;
  devices_[device]->submit({begin, end - begin, request.write, current_request_});
}

void StripedDevice::done(std::uint64_t tag) {
  if (--split_requests_[tag].pieces > 0) return;
  const std::uint64_t request_tag = split_requests_[tag].tag;
  free_requests_.push_back(tag);
  completion_.done(request_tag);
}

void StripedDevice::report(std::vector<DeviceUse>& all) const {
  for (const auto& device : devices_) device->report(all);
}

void StripedDevice::report_parts(std::vector<DeviceUse>& all) const {
  for (const auto& device : devices_) device->report_parts(all);
}

}  // namespace plait::simulation
