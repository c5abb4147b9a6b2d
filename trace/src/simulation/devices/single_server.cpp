// One server with a queue and a constant or exponentially distributed service time. Queueing theory has closed forms
// for its waiting times, so tests can compare them with the simulation.
#include <array>
#include <cmath>
#include <deque>

#include "base/random_bits.hpp"
#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

namespace {

constexpr std::array<DeviceParameter, 4> kParameters{{
    {"service", Unit::kTime, 0.001, "of a request, before its bytes; the mean where it varies"},
    {"rate", Unit::kRate, 1e15, "at which bytes are transferred"},
    {"distribution", Unit::kChoice, 0, "of the time of service", "constant,exponential"},
    {"seed", Unit::kCount, 1, "of an exponential time"},
}};

class SingleServer final : public Device, private Timer {
 public:
  SingleServer(const DeviceSite& site, const DeviceArguments& arguments)
      : Device(site.clock, site.completion),
        service_(arguments.time("service")),
        rate_(arguments.rate("rate")),
        exponential_(arguments.number("distribution") != 0),
        bits_(static_cast<std::uint64_t>(arguments.count("seed"))),
        meter_(site.name) {}

  void submit(const DeviceRequest& request) override {
    const Time now = clock_.now();
    meter_.begin(now, request);
    double service = static_cast<double>(service_);
    if (exponential_) service *= -std::log(bits_.share());
    free_ = std::max(free_, now) + static_cast<Time>(service) + transfer_time(request.length, rate_);
    clock_.schedule(free_, *this, request.tag);
  }
  void report(std::vector<DeviceUse>& all) const override { all.push_back(meter_.use(clock_.now())); }

 private:
  void fire(std::uint64_t token) override {
    meter_.end(clock_.now());
    completion_.done(token);
  }

  Time service_;
  double rate_;
  bool exponential_;
  base::RandomBits bits_;
  DeviceMeter meter_;
  Time free_ = 0;  // time at which all submitted requests will have ended
};

}  // namespace

const DeviceKind& single_server() {
  static const DeviceKind kKind{"server", "one server with a queue, as in queueing theory", kParameters,
                                [](const DeviceSite& site, const DeviceArguments& arguments) {
                                  return std::unique_ptr<Device>(std::make_unique<SingleServer>(site, arguments));
                                }};
  return kKind;
}

}  // namespace plait::simulation
