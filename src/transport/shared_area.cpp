#include "transport/shared_area.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>

namespace plait::transport {

namespace {

struct Area {
  std::int64_t group = 0;
  std::byte* memory = nullptr;
  std::int64_t bytes = 0;
  /// The number of parts, of all processes, that are not destroyed.  It is the first word of the header of the area.
  std::atomic<std::int32_t>& holders() const { return *reinterpret_cast<std::atomic<std::int32_t>*>(memory); }
};
static_assert(std::atomic<std::int32_t>::is_always_lock_free);

struct Registry {
  std::mutex mutex;
  std::map<std::int64_t, Area> areas;
};
/// Never destroyed: arrays may outlive all other objects of a program.
Registry& registry() {
  static base::PerProcess<Registry> value;
  return value.get();
}

/// Unmaps areas whose parts are all destroyed.  The lock of the registry must be held.
void unmap_unused(Registry& registry) {
  for (auto area = registry.areas.begin(); area != registry.areas.end();) {
    // Acquire, paired with the releases of all holders: their accesses are over.  The count is in the area itself,
    // which is mapped here until this process unmaps it.
    if (area->second.holders().load(std::memory_order_acquire) > 0) {
      ++area;
    } else {
      ::munmap(area->second.memory, static_cast<std::size_t>(area->second.bytes));
      area = registry.areas.erase(area);
    }
  }
}

}  // namespace

SharedPart::SharedPart(std::int64_t area, std::byte* data, std::int64_t bytes)
    : area_(area), data_(data), bytes_(bytes) {}

SharedPart::~SharedPart() {
  if (!owner_.here()) return;
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  // The part occupies whole pages, which it shares with no other part, so that MADV_REMOVE frees only its memory.
  const std::int64_t rounded = (bytes_ + kAreaPage - 1) / kAreaPage * kAreaPage;
  if (rounded > 0) ::madvise(data_, static_cast<std::size_t>(rounded), MADV_REMOVE);
  const auto found = known.areas.find(area_);
  if (found != known.areas.end()) found->second.holders().fetch_sub(1, std::memory_order_acq_rel);
  unmap_unused(known);
}

void register_area(std::int64_t area, std::int64_t group, std::byte* memory, std::int64_t bytes, int holders) {
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  unmap_unused(known);
  Area& entry = known.areas[area];
  entry = {group, memory, bytes};
  // Every process stores the same number, and none destroys its part before all have done so.
  entry.holders().store(holders, std::memory_order_release);
}

std::optional<SharedAddress> find_shared(const void* address) {
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  for (const auto& [number, area] : known.areas) {
    const std::int64_t offset = static_cast<const std::byte*>(address) - area.memory;
    if (offset >= 0 && offset < area.bytes) return SharedAddress{number, offset, area.group};
  }
  return std::nullopt;
}

std::byte* locate_shared(const SharedAddress& address) {
  Registry& known = registry();
  const std::scoped_lock lock(known.mutex);
  const auto found = known.areas.find(address.area);
  return found == known.areas.end() ? nullptr : found->second.memory + address.offset;
}

std::int64_t new_area_number() {
  static std::atomic<std::int64_t> counter{0};
  return (static_cast<std::int64_t>(::getpid()) << 32) + ++counter;
}

}  // namespace plait::transport
