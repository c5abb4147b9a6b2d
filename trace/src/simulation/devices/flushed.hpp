/// A device that takes time to be flushed.
#pragma once

#include <memory>
#include <vector>

#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

/// Forwards requests to the device. A flush first makes small writes, one after the other, as a file system does to
/// record a file's new length or blocks. It then takes the time of a flush, during which the device serves other
/// requests. Flushes are served one at a time.
///
/// Example: 2 small writes of 1 ms and a flush of 5 ms. A flush that is submitted at 0 ends at 7 ms. A second one that
/// is submitted at 2 ms has made its writes by 4 ms, waits until 7 ms and ends at 12 ms.
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
    std::int64_t writes = 0;  // number of small writes that are left
  };

  void done(std::uint64_t tag) override;
  void fire(std::uint64_t token) override;
  void go_on(std::size_t index);

  std::unique_ptr<Device> device_;
  Time flush_;
  std::int64_t writes_;
  std::int64_t address_;  // address of the small writes, after all files
  Time free_ = 0;         // time at which all current flushes have ended
  std::int64_t flushes_ = 0;
  std::vector<Flush> under_way_;
  std::vector<std::size_t> unused_;
};

}  // namespace plait::simulation
