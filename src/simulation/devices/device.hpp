/// What serves requests on the virtual clock: a disk, an SSD, the servers of a file system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/clock/event_queue.hpp"

namespace plait::simulation {

/// One request.  Devices know addresses; files lie behind each other in them (FilePlacement).
struct DeviceRequest {
  std::int64_t address = 0;  ///< bytes
  std::int64_t length = 0;   ///< bytes, above 0 but for a flush
  bool write = false;
  std::uint64_t tag = 0;  ///< handed back when it is done
  bool flush = false;     ///< no bytes: brings what was written to where it stays; of FlushedDevice alone
};

/// What hears that a request is done.
class Completion {
 public:
  virtual ~Completion() = default;
  virtual void done(std::uint64_t tag) = 0;
};

/// What a device, or one part of it, has done.
struct DeviceUse {
  std::string name;
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
  Time busy = 0;               ///< with at least one request in it
  double inside = 0;           ///< requests in it, waiting or served, times ns; over elapsed time: their mean number
  std::int64_t most = 0;       ///< the most requests in it at once
  std::int64_t hits = 0;       ///< of a tier: requests that it served whole
  std::int64_t hit_bytes = 0;  ///< of a tier: bytes read from it
  Time stalled = 0;            ///< of an SSD: in garbage collection
  std::int64_t flushes = 0;    ///< of all devices together, told with the first
};

/// threads  one at a time, and all on one clock.
class Device {
 public:
  Device(EventQueue& clock, Completion& completion) : clock_(clock), completion_(completion) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Begins a request now; Completion::done() is called from an event, never from here.
  virtual void submit(const DeviceRequest& request) = 0;
  /// Adds what this device has done until now, and what its parts have.
  virtual void report(std::vector<DeviceUse>& all) const = 0;
  /// The same, each of several servers alone.
  virtual void report_parts(std::vector<DeviceUse>& all) const { report(all); }

 protected:
  EventQueue& clock_;
  Completion& completion_;
};

/// Counts what a device does.
class DeviceMeter {
 public:
  explicit DeviceMeter(std::string name) { use_.name = std::move(name); }

  void begin(Time now, const DeviceRequest& request) {
    pass(now);
    ++(request.write ? use_.writes : use_.reads);
    (request.write ? use_.write_bytes : use_.read_bytes) += request.length;
    use_.most = std::max(use_.most, ++inside_);
  }
  void end(Time now) {
    pass(now);
    --inside_;
  }
  DeviceUse use(Time now) const {
    DeviceMeter copy = *this;
    copy.pass(now);
    return copy.use_;
  }
  DeviceUse& counts() noexcept { return use_; }

 private:
  void pass(Time now) {
    use_.inside += static_cast<double>(inside_) * static_cast<double>(now - last_);
    if (inside_ > 0) use_.busy += now - last_;
    last_ = now;
  }

  DeviceUse use_;
  std::int64_t inside_ = 0;
  Time last_ = 0;
};

}  // namespace plait::simulation
