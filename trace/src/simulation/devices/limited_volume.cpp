// A volume with limits on bytes and requests per second, like those of clouds and control groups.
//
// The unused part of a limit is credit for a short time (`burst`), so a program that computes between two requests does
// not lose the bandwidth of that time. Model: the generic cell rate algorithm, I.371 of the ITU, in which a request
// proceeds when the limits have allowed all of its bytes.
//
// Example with the defaults (125 MB/s, a burst of 20 ms): the first request, a read of 5 MB at 0, costs 40 ms of the
// byte limit. The credit pays 20 ms of it, so that the read ends at 20 ms plus the latency of 0.5 ms. It counts as 20
// requests of at most 256 KiB; these cost 20/3000 s = 6.7 ms and are covered by the credit.
#include <algorithm>
#include <array>

#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

namespace {

constexpr std::string_view kLimits = "each,together";

constexpr std::array<DeviceParameter, 10> kParameters{{
    {"read_rate", Unit::kRate, 125e6, "bytes a second that may be read"},
    {"write_rate", Unit::kRate, 125e6, "bytes a second that may be written"},
    {"read_requests", Unit::kCount, 3000, "a second"},
    {"write_requests", Unit::kCount, 3000, "a second"},
    {"read_unit", Unit::kBytes, 262144, "up to which a read counts as one request; a larger one as several"},
    {"write_unit", Unit::kBytes, 262144, "up to which a write counts as one request; a larger one as several"},
    {"limits", Unit::kChoice, 0, "whether reads and writes have limits of their own", kLimits},
    {"burst", Unit::kTime, 0.02, "for which what was not used of a limit can be used later"},
    {"read_latency", Unit::kTime, 500e-6, "of a read that no limit holds back"},
    {"write_latency", Unit::kTime, 500e-6, "of a write that no limit holds back"},
}};

class LimitedVolume final : public Device, private Timer {
 public:
  LimitedVolume(const DeviceSite& site, const DeviceArguments& arguments)
      : Device(site.clock, site.completion),
        rate_{arguments.rate("read_rate"), arguments.rate("write_rate")},
        requests_{static_cast<double>(arguments.count("read_requests")),
                  static_cast<double>(arguments.count("write_requests"))},
        unit_{arguments.count("read_unit"), arguments.count("write_unit")},
        shares_limit_(arguments.number("limits") != 0),
        burst_(arguments.time("burst")),
        latency_{arguments.time("read_latency"), arguments.time("write_latency")},
        meter_(site.name) {
    for (Limit& limit : limits_) limit = {-burst_, -burst_};
  }

  void submit(const DeviceRequest& request) override {
    const Time now = clock_.now();
    meter_.begin(now, request);
    Limit& limit = limits_[shares_limit_ ? 0 : request.write];
    const std::int64_t units = (request.length - 1) / unit_[request.write] + 1;
    limit.bytes = std::max(limit.bytes, now - burst_) + transfer_time(request.length, rate_[request.write]);
    limit.requests = std::max(limit.requests, now - burst_) + transfer_time(units, requests_[request.write]);
    clock_.schedule(std::max({now, limit.bytes, limit.requests}) + latency_[request.write], *this, request.tag);
  }
  void report(std::vector<DeviceUse>& all) const override { all.push_back(meter_.use(clock_.now())); }

 private:
  /// Times at which all requests so far are paid for. A time in the past is credit.
  struct Limit {
    Time bytes = 0;
    Time requests = 0;
  };

  void fire(std::uint64_t token) override {
    meter_.end(clock_.now());
    completion_.done(token);
  }

  double rate_[2];      // reads, writes
  double requests_[2];  // per second
  std::int64_t unit_[2];
  bool shares_limit_;
  Time burst_;
  Time latency_[2];
  Limit limits_[2];
  DeviceMeter meter_;
};

}  // namespace

const DeviceKind& limited_volume() {
  static const DeviceKind kKind{"volume", "a volume of limited bytes and requests a second, as of clouds", kParameters,
                                [](const DeviceSite& site, const DeviceArguments& arguments) {
                                  return std::unique_ptr<Device>(std::make_unique<LimitedVolume>(site, arguments));
                                }};
  return kKind;
}

}  // namespace plait::simulation
