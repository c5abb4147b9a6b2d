/// Devices that serve requests on the virtual clock: a disk, an SSD, the servers of a file system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/clock/event_queue.hpp"

namespace plait::simulation {

/// One request. Devices have addresses, not files; FilePlacement maps files to consecutive address ranges.
struct DeviceRequest {
  std::int64_t address = 0;  ///< in bytes
  std::int64_t length = 0;   ///< in bytes, above 0 except for a flush
  bool write = false;
  std::uint64_t tag = 0;  ///< passed to Completion::done()
  /// A flush, which transfers no bytes and makes earlier writes durable; only FlushedDevice accepts it.
  bool flush = false;
};

/// The receiver of completed requests.
class Completion {
 public:
  virtual ~Completion() = default;
  /// Called when the request with this tag has ended.
  virtual void done(std::uint64_t tag) = 0;
};

/// Statistics of a device, or of one part of it. "In it" means submitted to the device and not completed.
struct DeviceUse {
  std::string name;
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
  Time busy = 0;  ///< time during which at least one request is in it
  /// Number of requests in it, integrated over time in ns; divided by the elapsed time, their mean number.
  double inside = 0;
  std::int64_t max_inside = 0;  ///< maximum number of requests in it at once
  std::int64_t hits = 0;        ///< number of requests that a tier served entirely
  std::int64_t hit_bytes = 0;   ///< number of bytes read from a tier (fast device in front of a slow one)
  Time stalled = 0;             ///< time of an SSD in garbage collection
  std::int64_t flushes = 0;     ///< flushes of all devices together, reported with the first
};

/// A device of the simulation.
/// threads  one at a time, and all on one clock.
class Device {
 public:
  Device(EventQueue& clock, Completion& completion) : clock_(clock), completion_(completion) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Begins a request now. Completion::done() is called from a later event, never from within submit().
  virtual void submit(const DeviceRequest& request) = 0;
  /// Appends the statistics of this device and of its parts.
  virtual void report(std::vector<DeviceUse>& all) const = 0;
  /// Appends the statistics of each server of a device separately.
  virtual void report_parts(std::vector<DeviceUse>& all) const { report(all); }

 protected:
  EventQueue& clock_;
  Completion& completion_;
};

/// Collects the statistics of a device.
class DeviceMeter {
 public:
  explicit DeviceMeter(std::string name) { use_.name = std::move(name); }

  void begin(Time now, const DeviceRequest& request) {
    advance(now);
    ++(request.write ? use_.writes : use_.reads);
    (request.write ? use_.write_bytes : use_.read_bytes) += request.length;
    use_.max_inside = std::max(use_.max_inside, ++inside_);
  }
  void end(Time now) {
    advance(now);
    --inside_;
  }
  DeviceUse use(Time now) const {
    DeviceMeter copy = *this;
    copy.advance(now);
    return copy.use_;
  }
  DeviceUse& counts() noexcept { return use_; }

 private:
  /// Accounts for the time since the last call, during which the number of requests did not change.
  void advance(Time now) {
    use_.inside += static_cast<double>(inside_) * static_cast<double>(now - last_);
    if (inside_ > 0) use_.busy += now - last_;
    last_ = now;
  }

  DeviceUse use_;
  std::int64_t inside_ = 0;
  Time last_ = 0;
};

}  // namespace plait::simulation
