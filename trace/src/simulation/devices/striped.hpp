/// Several equal devices over which addresses are striped.
#pragma once

#include <memory>
#include <vector>

#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

/// A request becomes at most one piece for each device, because its stripes are contiguous there. It is done when all
/// pieces are done.
/// cost  O(devices used by the request).
class StripedDevice final : public Device, private Completion {
 public:
  StripedDevice(const DeviceSite& site, const DeviceSpec& spec, const DeviceKind& kind,
                const DeviceArguments& arguments);

  void submit(const DeviceRequest& request) override;
  void report(std::vector<DeviceUse>& all) const override;
  void report_parts(std::vector<DeviceUse>& all) const override;

 private:
  struct SplitRequest {
    std::uint64_t tag = 0;
    std::int64_t pieces = 0;
  };

  void done(std::uint64_t tag) override;
  void submit_piece(std::size_t device, std::int64_t begin, std::int64_t end, const DeviceRequest& request);
  /// Number of bytes below `address` that are stored on a device.
  std::int64_t bytes_before(std::int64_t address, std::size_t device) const;

  std::int64_t stripe_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<SplitRequest> split_requests_;
  std::vector<std::uint64_t> free_requests_;  // unused indices of split_requests_
  std::uint64_t current_request_ = 0;         // index in split_requests_ of the request that is being submitted
};

}  // namespace plait::simulation
