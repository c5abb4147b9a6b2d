// A parallel file system: servers over which bytes are striped, and one link of the client.
//
// Requests use the link in the order in which they are made. Written bytes cross it before the servers, read bytes
// after them. Other clients are not simulated; `load` reduces the rates of servers and link by their share.
//
// All stripes of a request on one server are one piece, whose size follows from arithmetic. Example: 2 servers, stripes
// of 1 MiB, a request of 3 MiB at address 0.5 MiB. It touches 4 stripes, 2 on each server. The first stripe loses 0.5
// MiB at its begin and the last stripe 0.5 MiB at its end, so each server gets 1.5 MiB.
#include <algorithm>
#include <array>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

namespace {

constexpr std::array<DeviceParameter, 7> kParameters{{
    {"servers", Unit::kCount, 8, "over which bytes lie in stripes"},
    {"unit", Unit::kBytes, 1048576, "bytes of a stripe"},
    {"read_rate", Unit::kRate, 2e9, "of one server"},
    {"write_rate", Unit::kRate, 1.5e9, "of one server"},
    {"latency", Unit::kTime, 500e-6, "of a request at each server that it reaches"},
    {"link_rate", Unit::kRate, 12.5e9, "of the client's link"},
    {"load", Unit::kShare, 0, "the share of servers and link that others use"},
}};

class ParallelServers final : public Device, private Timer {
 public:
  ParallelServers(const DeviceSite& site, const DeviceArguments& arguments)
      : Device(site.clock, site.completion),
        free_(static_cast<std::size_t>(std::min<std::int64_t>(arguments.count("servers"), 65536)), 0),
        stripe_(arguments.count("unit")),
        latency_(arguments.time("latency")),
        meter_(site.name),
        server_uses_(free_.size()) {
    const double load = arguments.number("load");
    if (load >= 1)
      base::throw_argument_error("found load=", load,
                                 " of the device 'servers', expected a share of "
                                 "0 to below 1 such as 30%; correct it");
    rate_[0] = arguments.rate("read_rate") * (1 - load);
    rate_[1] = arguments.rate("write_rate") * (1 - load);
    link_rate_ = arguments.rate("link_rate") * (1 - load);
  }

  void submit(const DeviceRequest& request) override {
    const Time now = clock_.now();
    meter_.begin(now, request);
    const Time link_time = transfer_time(request.length, link_rate_);
    Time arrived = now;
    if (request.write) arrived = link_free_ = std::max(link_free_, now) + link_time;
    Time end = arrived;
    const auto servers = static_cast<std::int64_t>(free_.size());
    const std::int64_t end_address = request.address + request.length;
    const std::int64_t first = request.address / stripe_;
    const std::int64_t stripes = (end_address - 1) / stripe_ - first + 1;
    for (std::int64_t k = 0; k < std::min(stripes, servers); ++k) {
      // The stripes of one server, without the parts before and after the request: see the example above.
      std::int64_t bytes = ((stripes - 1 - k) / servers + 1) * stripe_;
      if (k == 0) bytes -= request.address % stripe_;
      if (k == (stripes - 1) % servers) bytes -= (end_address + stripe_ - 1) / stripe_ * stripe_ - end_address;
      Time& free = free_[static_cast<std::size_t>((first + k) % servers)];
      const Time service_time = latency_ + transfer_time(bytes, rate_[request.write]);
      free = std::max(free, arrived) + service_time;
      count(server_uses_[static_cast<std::size_t>((first + k) % servers)], request.write, bytes, service_time);
      end = std::max(end, free);
    }
    if (!request.write) {
      link_free_ = std::max(link_free_, now) + link_time;
      end = std::max(end, link_free_);
    }
    clock_.schedule(end, *this, request.tag);
  }
  void report(std::vector<DeviceUse>& all) const override { all.push_back(meter_.use(clock_.now())); }
  void report_parts(std::vector<DeviceUse>& all) const override {
    const std::string name = meter_.use(clock_.now()).name;
    for (std::size_t k = 0; k < server_uses_.size(); ++k) {
      all.push_back(server_uses_[k]);
      all.back().name = base::text(name, ' ', k + 1);
    }
  }

 private:
  static void count(DeviceUse& use, bool write, std::int64_t bytes, Time busy) {
    ++(write ? use.writes : use.reads);
    (write ? use.write_bytes : use.read_bytes) += bytes;
    use.busy += busy;
  }
  void fire(std::uint64_t token) override {
    meter_.end(clock_.now());
    completion_.done(token);
  }

  std::vector<Time> free_;  // time at which all requests of each server have ended
  std::int64_t stripe_;
  Time latency_;
  double rate_[2];  // reads, writes
  double link_rate_ = 1;
  DeviceMeter meter_;
  std::vector<DeviceUse> server_uses_;  // service time of each server, without time in queues
  Time link_free_ = 0;                  // time at which the link is free
};

}  // namespace

const DeviceKind& parallel_servers() {
  static const DeviceKind kKind{"servers", "a parallel file system: servers with stripes, and a link", kParameters,
                                [](const DeviceSite& site, const DeviceArguments& arguments) {
                                  return std::unique_ptr<Device>(std::make_unique<ParallelServers>(site, arguments));
                                }};
  return kKind;
}

}  // namespace plait::simulation
