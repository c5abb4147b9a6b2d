// A flush makes its small writes one after the other, then waits for its turn and takes its time.

#include "simulation/devices/flushed.hpp"

#include <algorithm>

namespace plait::simulation {

namespace {

constexpr std::uint64_t kFlushWriteTag = std::uint64_t{1} << 62;  // marks the tags of the small writes of a flush
constexpr std::int64_t kSmallWriteBytes = 4096;

}  // namespace

FlushedDevice::FlushedDevice(const DeviceSite& site, const DeviceSpec& spec)
    : Device(site.clock, site.completion),
      device_(make_device(spec, {site.clock, *this, site.name, site.span + kSmallWriteBytes})),
      flush_time_(spec.flush),
      writes_per_flush_(spec.flush_writes),
      address_(site.span) {}

void FlushedDevice::submit(const DeviceRequest& request) {
  if (!request.flush) {
    device_->submit(request);
    return;
  }
  ++flush_count_;
  if (free_entries_.empty()) {
    free_entries_.push_back(flushes_in_progress_.size());
    flushes_in_progress_.emplace_back();
  }
  const std::size_t index = free_entries_.back();
  free_entries_.pop_back();
  flushes_in_progress_[index] = {request.tag, writes_per_flush_};
  continue_flush(index);
}

void FlushedDevice::continue_flush(std::size_t index) {
  if (flushes_in_progress_[index].writes_left-- > 0) {
    device_->submit({.address = address_, .length = kSmallWriteBytes, .write = true, .tag = kFlushWriteTag | index});
    return;
  }
  flush_end_ = std::max(flush_end_, clock_.now()) + flush_time_;
  clock_.schedule(flush_end_, *this, index);
}

void FlushedDevice::done(std::uint64_t tag) {
  if ((tag & kFlushWriteTag) == 0)
    completion_.done(tag);
  else
    continue_flush(tag & ~kFlushWriteTag);
}

void FlushedDevice::fire(std::uint64_t token) {
  free_entries_.push_back(token);
  completion_.done(flushes_in_progress_[token].tag);
}

void FlushedDevice::report(std::vector<DeviceUse>& all) const {
  const std::size_t first = all.size();
  device_->report(all);
  if (all.size() > first) all[first].flushes = flush_count_;
}

}  // namespace plait::simulation
