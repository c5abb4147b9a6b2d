/// A fast device in front of a slow one, managed by the system: an SSD, or a burst buffer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulation/cache/block_table.hpp"
#include "simulation/cache/registry.hpp"
#include "simulation/cache/slot_lists.hpp"
#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

struct TierSpec {
  std::int64_t size = 0;  ///< in bytes; 0: there is no tier
  std::int64_t block = 65536;
  std::string policy = "lru";
  DeviceSpec device;
};

/// Reads come from the tier if it has the data; otherwise they come from the slow device and the tier caches them.
/// Writes go to the tier and from there to the slow device while the program continues. A write waits for the slow
/// device only if more than the size of the tier is on its way there.
/// cost  O(blocks of the request).
/// memory  about 60 bytes for each block used.
class TieredDevice final : public Device, private Completion {
 public:
  /// errors  kArgument: a tier smaller than one of its blocks, a policy that needs to know the future.
  TieredDevice(const DeviceSite& site, const TierSpec& tier, const DeviceSpec& slow);

  void submit(const DeviceRequest& request) override;
  void report(std::vector<DeviceUse>& all) const override;

 private:
  /// A request of the program, or a copy in the background, and its pieces on the two devices.
  struct SplitRequest {
    std::uint64_t tag = 0;
    std::int64_t pieces = 0;   // pieces that have not ended
    std::int64_t backlog = 0;  // bytes on their way to the slow device for this request
    bool background = false;   // true for a copy to the slow device that no request of the program waits for
  };

  void done(std::uint64_t tag) override;
  std::size_t begin_request(std::uint64_t tag);
  /// Uses a block of the tier, which enters it if necessary. Returns true if the block was in the tier.
  bool use_block(std::int64_t block);
  void read(const DeviceRequest& request, std::size_t request_index);
  void write(const DeviceRequest& request, std::size_t request_index);

  std::int64_t block_;
  std::int64_t capacity_;
  std::unique_ptr<Policy> policy_;
  BlockTable table_;
  Slot max_slots_;
  SlotTable<BlockKey> keys_;
  std::vector<Slot> free_;  // slots whose blocks have left
  Slot used_slots_ = 0;     // number of slots that were ever used
  std::unique_ptr<Device> fast_;
  std::unique_ptr<Device> slow_;
  std::vector<SplitRequest> split_requests_;
  std::vector<std::size_t> free_requests_;
  std::int64_t backlog_ = 0;  // bytes written to the tier but not yet to the slow device
  std::int64_t hits_ = 0;
  std::int64_t hit_bytes_ = 0;
};

}  // namespace plait::simulation
