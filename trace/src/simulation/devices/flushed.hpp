/// A device that takes time to be flushed.
#pragma once

#include <memory>
#include <vector>

#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

/// Forwards reads and writes to an inner device and simulates flushes itself. A flush first makes small writes, one
/// after the other, as a file system does to record a file's new length or blocks. It then takes the time of a flush,
/// during which the device serves other requests. Flushes are served one at a time.
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
    std::uint64_t tag = 0;         // tag of the flush
    std::int64_t writes_left = 0;  // number of small writes that the flush must still make
  };

  void done(std::uint64_t tag) override;
  void fire(std::uint64_t token) override;
  void continue_flush(std::size_t index);

  std::unique_ptr<Device> device_;
  Time flush_time_;
  std::int64_t writes_per_flush_;
  std::int64_t address_;  // address of the small writes, after all files
  Time flush_end_ = 0;    // time at which all current flushes have ended
  std::int64_t flush_count_ = 0;
  std::vector<Flush> flushes_in_progress_;
  std::vector<std::size_t> free_entries_;
};

}  // namespace plait::simulation
