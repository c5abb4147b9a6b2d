#include "simulation/devices/flushed.hpp"

#include <algorithm>

namespace plait::simulation {

namespace {

constexpr std::uint64_t kOwn = std::uint64_t{1} << 62;  // marks the tags of the small writes of a flush
constexpr std::int64_t kSmall = 4096;

}  // namespace

FlushedDevice::FlushedDevice(const DeviceSite& site, const DeviceSpec& spec)
    : Device(site.clock, site.completion),
      device_(make_device(spec, {site.clock, *this, site.name, site.span + kSmall})),
      flush_(spec.flush),
      writes_(spec.flush_writes),
      address_(site.span) {}

void FlushedDevice::submit(const DeviceRequest& request) {
  if (!request.flush) {
    device_->submit(request);
    return;
  }
  ++flushes_;
  if (unused_.empty()) {
    unused_.push_back(under_way_.size());
    under_way_.emplace_back();
  }
  const std::size_t index = unused_.back();
  unused_.pop_back();
  under_way_[index] = {request.tag, writes_};
  go_on(index);
}

void FlushedDevice::go_on(std::size_t index) {
  if (under_way_[index].writes-- > 0) {
    device_->submit({.address = address_, .length = kSmall, .write = true, .tag = kOwn | index});
    return;
  }
  free_ = std::max(free_, clock_.now()) + flush_;
  clock_.schedule(free_, *this, index);
}

void FlushedDevice::done(std::uint64_t tag) {
  if ((tag & kOwn) == 0)
    completion_.done(tag);
  else
    go_on(tag & ~kOwn);
}

void FlushedDevice::fire(std::uint64_t token) {
  unused_.push_back(token);
  completion_.done(under_way_[token].tag);
}

void FlushedDevice::report(std::vector<DeviceUse>& all) const {
  const std::size_t first = all.size();
  device_->report(all);
  if (all.size() > first) all[first].flushes = flushes_;
}

}  // namespace plait::simulation
