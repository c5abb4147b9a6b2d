/// A fast and small map from 64-bit keys to 32-bit values: 16 bytes an entry, and at most half of the entries in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace plait::trace::report {

class FlatMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::size_t size() const { return size_; }
  std::uint32_t find(std::uint64_t key) const {
    if (slots_.empty()) return kNone;
    for (std::size_t index = first_index(key);; index = (index + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[index];
      if (slot.value == kNone) return kNone;
      if (slot.key == key) return slot.value;
    }
  }
  /// Returns the value of a key. A new key gets `value`.
  std::uint32_t& find_or_insert(std::uint64_t key, std::uint32_t value) {
    if (2 * (size_ + 1) > slots_.size()) add_saturated();
    for (std::size_t index = first_index(key);; index = (index + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[index];
      if (slot.value == kNone) {
        slot = {key, value};
        ++size_;
        return slot.value;
      }
      if (slot.key == key) return slot.value;
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = kNone;
  };

  std::size_t first_index(std::uint64_t key) const {
    key ^= key >> 32;
    key *= 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(key >> 29) & (slots_.size() - 1);
  }
  void add_saturated() {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    size_ = 0;
    for (const Slot& slot : old)
      if (slot.value != kNone) find_or_insert(slot.key, slot.value);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace plait::trace::report
