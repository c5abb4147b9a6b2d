// A disk with an arm: requests wait in a queue, and each takes a seek, a rotation and its transfer.
//
// Source of the model: C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3),
// 1994: the seek time grows with the square root of a short distance and linearly with a long one.
//
// Example with the defaults (seeks of 0.8 to 16 ms): half of the increase belongs to the first third of the disk, so
// the seek over 1/3 takes 8.4 ms. One over 1/12 takes 0.8 + 7.6 * sqrt((1/12) / (1/3)) = 4.6 ms. Half a rotation adds
// 4.2 ms.
#include <array>
#include <cmath>
#include <cstdlib>

#include "simulation/devices/device_kind.hpp"
#include "simulation/devices/request_order.hpp"

namespace plait::simulation {

namespace {

constexpr std::array<DeviceParameter, 9> kParameters{{
    {"rate", Unit::kRate, 180e6, "at which bytes are transferred"},
    {"seek_near", Unit::kTime, 0.0008, "of a seek to the next track"},
    {"seek_far", Unit::kTime, 0.016, "of a seek over the whole disk"},
    {"rotation", Unit::kTime, 0.00833, "one turn; a request that does not follow the last one waits for half"},
    {"capacity", Unit::kBytes, 4e12, "bytes of the whole disk, over which seek_far goes"},
    {"overhead", Unit::kTime, 0.0001, "of the controller for each request"},
    {"order", Unit::kChoice, 1, "which request is next", kOrderNames},
    {"read_limit", Unit::kTime, 0.5, "how long a read may wait; of the order deadline"},
    {"write_limit", Unit::kTime, 5, "how long a write may wait; of the order deadline"},
}};

class QueueingDisk final : public Device, private Timer {
 public:
  QueueingDisk(const DeviceSite& site, const DeviceArguments& arguments)
      : Device(site.clock, site.completion),
        rate_(arguments.rate("rate")),
        nearest_seek_(static_cast<double>(arguments.time("seek_near"))),
        farthest_seek_(static_cast<double>(arguments.time("seek_far"))),
        half_turn_(arguments.time("rotation") / 2),
        overhead_(arguments.time("overhead")),
        capacity_(std::max(arguments.number("capacity"), static_cast<double>(site.span))),
        order_(static_cast<OrderKind>(arguments.number("order")), arguments.time("read_limit"),
               arguments.time("write_limit")),
        meter_(site.name) {}

  void submit(const DeviceRequest& request) override {
    meter_.begin(clock_.now(), request);
    order_.add(clock_.now(), request);
    if (!busy_) serve();
  }
  void report(std::vector<DeviceUse>& all) const override { all.push_back(meter_.use(clock_.now())); }

 private:
  void serve() {
    const DeviceRequest request = order_.take(clock_.now(), head_address_);
    busy_ = true;
    clock_.schedule(clock_.now() + overhead_ + positioning_time(request.address) + transfer_time(request.length, rate_),
                    *this, request.tag);
    head_address_ = request.address + request.length;
  }

  Time positioning_time(std::int64_t address) const {
    if (address == head_address_) return 0;
    // The arm reaches its full speed after a third of the disk: the curve is a square root before and a line after it.
    const double distance_share =
        std::min(1.0, static_cast<double>(std::abs(address - head_address_)) / std::max(capacity_, 1.0));
    constexpr double kKneeDistance = 1.0 / 3;
    const double knee_seek = nearest_seek_ + (farthest_seek_ - nearest_seek_) * 0.5;
    const double seek =
        distance_share < kKneeDistance
            ? nearest_seek_ + (knee_seek - nearest_seek_) * std::sqrt(distance_share / kKneeDistance)
            : knee_seek + (farthest_seek_ - knee_seek) * (distance_share - kKneeDistance) / (1 - kKneeDistance);
    return static_cast<Time>(seek) + half_turn_;
  }

  void fire(std::uint64_t token) override {
    meter_.end(clock_.now());
    busy_ = false;
    if (!order_.empty()) serve();
    completion_.done(token);
  }

  double rate_;
  double nearest_seek_;
  double farthest_seek_;
  Time half_turn_;
  Time overhead_;
  double capacity_;
  RequestOrder order_;
  DeviceMeter meter_;
  std::int64_t head_address_ = 0;
  bool busy_ = false;
};

}  // namespace

const DeviceKind& queueing_disk() {
  static const DeviceKind kKind{"disk", "a disk with a queue: seek, rotation, transfer", kParameters,
                                [](const DeviceSite& site, const DeviceArguments& arguments) {
                                  return std::unique_ptr<Device>(std::make_unique<QueueingDisk>(site, arguments));
                                }};
  return kKind;
}

}  // namespace plait::simulation
