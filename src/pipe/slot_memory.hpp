/// Memory of a writer's process that readers on the same host map.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"

namespace plait::pipe {

/// What a slot begins with.
struct SlotHead {
  std::int64_t bytes;  ///< of the whole slot: more than a reader has mapped where it has grown
  std::int64_t step;   ///< see SlotMemory::step()
};

/// A file in memory, without a name: nothing stays of it when the last process has gone.  It only grows.
/// threads  One at a time.
class SlotMemory {
 public:
  SlotMemory() = default;
  ~SlotMemory();
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  /// Of a writer: makes it at least so long; data() may be another one afterwards.  errors  kSystem: no memory.
  void grow(std::int64_t bytes);
  /// What a reader may do with it.
  enum class Access : std::uint8_t { kRead, kWrite };
  /// Of a reader: maps what it has received, as long as it is now.
  /// errors  kSystem: EPROTO where it is no memory of a writer, which could become shorter.
  void map(base::Descriptor descriptor, Access access = Access::kRead);
  /// Of a reader: maps what has been added.
  void map_more();

  /// nullptr: nothing has been made or mapped.
  std::byte* data() const { return data_; }
  /// The bytes that the writer has, where there is memory.
  std::int64_t whole() const;
  SlotHead& head() const { return *reinterpret_cast<SlotHead*>(data_); }
  /// Which step it is for: the next one from before its first byte is written.  A reader that the writer has given up,
  /// and that does not know yet, asks again once it has read: what it has is that step only if it still is.
  std::int64_t step() const;
  /// Of a writer: of all that it writes before, and of nothing that it writes after, who sees this sees it.
  void set_step(std::int64_t step);
  std::int64_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.number(); }

 private:
  void map_again(std::int64_t bytes, Access access);

  base::Descriptor descriptor_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  Access access_ = Access::kRead;
};

}  // namespace plait::pipe
