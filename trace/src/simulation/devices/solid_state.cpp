// An SSD: parallel channels, and garbage collection that stops all of them after a number of written bytes.
//
// Pages are striped over the channels, and all pages of a request on one channel are one piece. Example with the
// defaults (8 channels, pages of 16 KiB, 3.5 GB/s): a read of 64 KiB from a page boundary uses 4 channels at once.
// Each takes the latency of 80 µs and 16,384 / (3.5e9 / 8) s = 37 µs, so the read ends after 117 µs.
#include <algorithm>
#include <array>

#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

namespace {

constexpr std::array<DeviceParameter, 9> kParameters{{
    {"channels", Unit::kCount, 8, "that work at once"},
    {"page", Unit::kBytes, 16384, "bytes that lie on one channel; the next page is on the next channel"},
    {"read_latency", Unit::kTime, 80e-6, "of a read, before its bytes"},
    {"write_latency", Unit::kTime, 20e-6, "of a write, before its bytes"},
    {"read_rate", Unit::kRate, 3.5e9, "of all channels together"},
    {"write_rate", Unit::kRate, 2.5e9, "of all channels together"},
    {"collect_after", Unit::kBytes, 0, "bytes written between two garbage collections; 0: there are none"},
    {"collect_time", Unit::kTime, 0.005, "for which a garbage collection stops all channels"},
    {"link_rate", Unit::kRate, 1e15, "of the link to the host, which all channels share"},
}};

class SolidState final : public Device, private Timer {
 public:
  SolidState(const DeviceSite& site, const DeviceArguments& arguments)
      : Device(site.clock, site.completion),
        free_(static_cast<std::size_t>(std::min<std::int64_t>(arguments.count("channels"), 4096)), 0),
        page_(arguments.count("page")),
        latency_{arguments.time("read_latency"), arguments.time("write_latency")},
        rate_{arguments.rate("read_rate") / static_cast<double>(free_.size()),
              arguments.rate("write_rate") / static_cast<double>(free_.size())},
        collect_after_(static_cast<std::int64_t>(arguments.number("collect_after"))),
        collect_time_(arguments.time("collect_time")),
        link_rate_(arguments.rate("link_rate")),
        meter_(site.name) {}

  void submit(const DeviceRequest& request) override {
    const Time now = clock_.now();
    meter_.begin(now, request);
    link_free_ = std::max(link_free_, now) + transfer_time(request.length, link_rate_);
    Time end = link_free_;
    const auto channels = static_cast<std::int64_t>(free_.size());
    const std::int64_t end_address = request.address + request.length;
    const std::int64_t first_page = request.address / page_;
    const std::int64_t pages = (end_address - 1) / page_ - first_page + 1;
    // One piece for each channel: its pages of this request, without the parts before and after the request.
    for (std::int64_t k = 0; k < std::min(pages, channels); ++k) {
      std::int64_t bytes = ((pages - 1 - k) / channels + 1) * page_;
      if (k == 0) bytes -= request.address % page_;
      if (k == (pages - 1) % channels) bytes -= (end_address + page_ - 1) / page_ * page_ - end_address;
      Time& free = free_[static_cast<std::size_t>((first_page + k) % channels)];
      free = std::max(free, now) + latency_[request.write] + transfer_time(bytes, rate_[request.write]);
      end = std::max(end, free);
    }
    if (request.write) collect_garbage(request.length);
    clock_.schedule(end, *this, request.tag);
  }
  void report(std::vector<DeviceUse>& all) const override { all.push_back(meter_.use(clock_.now())); }

 private:
  void collect_garbage(std::int64_t bytes) {
    if (collect_after_ == 0) return;
    written_ += bytes;
    const std::int64_t collections = written_ / collect_after_;
    written_ %= collect_after_;
    if (collections == 0) return;
    const Time begin = std::max(*std::ranges::max_element(free_), clock_.now());
    for (Time& free : free_) free = begin + collections * collect_time_;
    meter_.counts().stalled += collections * collect_time_;
  }
  void fire(std::uint64_t token) override {
    meter_.end(clock_.now());
    completion_.done(token);
  }

  std::vector<Time> free_;  // time at which all requests of each channel have ended
  std::int64_t page_;
  Time latency_[2];  // reads, writes
  double rate_[2];   // rates of one channel
  std::int64_t collect_after_;
  Time collect_time_;
  double link_rate_;
  DeviceMeter meter_;
  Time link_free_ = 0;        // time at which the link is free
  std::int64_t written_ = 0;  // bytes written since the last garbage collection
};

}  // namespace

const DeviceKind& solid_state() {
  static const DeviceKind kKind{"ssd", "an SSD: channels, and stalls of garbage collection", kParameters,
                                [](const DeviceSite& site, const DeviceArguments& arguments) {
                                  return std::unique_ptr<Device>(std::make_unique<SolidState>(site, arguments));
                                }};
  return kKind;
}

}  // namespace plait::simulation
