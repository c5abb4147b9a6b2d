/// A device that takes time to be flushed.
#pragma once

#include <memory>
#include <vector>

#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

/// Requests go to the device as they are.  A flush first makes small writes, one after the other, as a file system does
/// that has to note a file's new length or blocks; then it takes the time of a flush, during which other requests are
/// served.  One flush is served at a time.
/// cost  O(1) each.
class FlushedDevice final : public Device, private Completion, private Timer {
 public:
  /// errors  kArgument: those of make_device().
  FlushedDevice(const DeviceSite& site, const DeviceSpec& spec);

  void submit(const DeviceRequest& request) override;
  void report(std::vector<DeviceUse>& all) const override;

 private:
  struct Flush {
    std::uint64_t tag = 0;
    std::int64_t writes = 0;  // that are left
  };

  void done(std::uint64_t tag) override;
  void fire(std::uint64_t token) override;
  void go_on(std::size_t index);

  std::unique_ptr<Device> device_;
  Time flush_;
  std::int64_t writes_;
  std::int64_t address_;  // of the small writes: behind all files
  Time free_ = 0;         // when all flushes that have come are done
  std::int64_t flushes_ = 0;
  std::vector<Flush> under_way_;
  std::vector<std::size_t> unused_;
};

}  // namespace plait::simulation
