// The disk of the paper of 1992: no queue, and a time that depends on the distance from the previous request.
//
// Source: E. L. Miller, "Input/Output Behavior of Supercomputing Applications" (1992), section 6.1: "There was no
// queueing at the disks, so the completion time of a specific I/O was dependent only on the location of the I/O and
// how 'close' the I/O was to the previous I/O." The paper does not give the curve. Here it is a square root, the time
// of an arm that accelerates and brakes.
//
// Example with the defaults: a request that continues the previous one starts its transfer after 1 ms. One at a
// quarter of the span starts after 4 + (15 - 4) * sqrt(1/4) = 9.5 ms.
#include <array>
#include <cmath>
#include <cstdlib>

#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

namespace {

constexpr std::array<DeviceParameter, 5> kParameters{{
    {"rate", Unit::kRate, 96e6, "at which bytes are transferred"},
    {"follow", Unit::kTime, 0.001, "before the bytes of a request that begins where the last one ended"},
    {"near", Unit::kTime, 0.004, "before the bytes of a request nearby"},
    {"far", Unit::kTime, 0.015, "before those of a request as far away as the span is long"},
    {"span", Unit::kBytes, 0, "the distance that takes `far`; 0: from the first byte of the files to the last"},
}};

class DistanceDisk final : public Device, private Timer {
 public:
  DistanceDisk(const DeviceSite& site, const DeviceArguments& arguments)
      : Device(site.clock, site.completion),
        rate_(arguments.rate("rate")),
        sequential_time_(arguments.time("follow")),
        nearest_time_(arguments.time("near")),
        farthest_time_(arguments.time("far")),
        span_(arguments.number("span") > 0 ? arguments.number("span") : static_cast<double>(site.span)),
        meter_(site.name) {}

  void submit(const DeviceRequest& request) override {
    const Time now = clock_.now();
    meter_.begin(now, request);
    clock_.schedule(now + positioning_time(request.address) + transfer_time(request.length, rate_), *this, request.tag);
    previous_end_ = request.address + request.length;
  }
  void report(std::vector<DeviceUse>& all) const override { all.push_back(meter_.use(clock_.now())); }

 private:
  Time positioning_time(std::int64_t address) const {
    if (address == previous_end_) return sequential_time_;
    const double distance_share =
        std::min(1.0, static_cast<double>(std::abs(address - previous_end_)) / std::max(span_, 1.0));
    return nearest_time_ +
           static_cast<Time>(static_cast<double>(farthest_time_ - nearest_time_) * std::sqrt(distance_share));
  }
  void fire(std::uint64_t token) override {
    meter_.end(clock_.now());
    completion_.done(token);
  }

  double rate_;
  Time sequential_time_;
  Time nearest_time_;
  Time farthest_time_;
  double span_;
  DeviceMeter meter_;
  std::int64_t previous_end_ = 0;  // address at which the previous request ended
};

}  // namespace

const DeviceKind& distance_disk() {
  static const DeviceKind kKind{"distance", "the disk of 1992: no queue, time by the distance from the last request",
                                kParameters, [](const DeviceSite& site, const DeviceArguments& arguments) {
                                  return std::unique_ptr<Device>(std::make_unique<DistanceDisk>(site, arguments));
                                }};
  return kKind;
}

}  // namespace plait::simulation
