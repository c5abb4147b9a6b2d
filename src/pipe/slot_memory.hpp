/// Shared memory of a process of a writer, which readers on the same host map.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"

namespace plait::pipe {

/// The header of a slot. A slot is the memory for one step at a time in one process of the writer.
struct SlotHead {
  std::int64_t bytes;  ///< length of the whole slot; if it has grown, a reader has mapped fewer bytes
  std::int64_t step;   ///< see SlotMemory::step()
};

/// An anonymous file in memory (memfd).  It exists until the last process closes it, and only grows.
/// threads  One at a time.
class SlotMemory {
 public:
  SlotMemory() = default;
  ~SlotMemory();
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  /// Called by the writer: grows to at least `bytes`; data() may change.  errors  kSystem: no memory.
  void grow(std::int64_t bytes);
  /// The access for which a reader maps the memory.
  enum class Access : std::uint8_t { kRead, kWrite };
  /// Called by a reader: maps the received descriptor at its present length.
  /// errors  kSystem: EPROTO if it is not sealed against shrinking.
  void map(base::Descriptor descriptor, Access access = Access::kRead);
  /// Called by a reader: maps the added part.
  void map_more();

  /// Returns nullptr if no memory has been created or mapped.
  std::byte* data() const { return data_; }
  /// Returns the present length of the memory, which the writer may have increased.  pre  data() is not nullptr.
  std::int64_t shared_bytes() const;
  SlotHead& head() const { return *reinterpret_cast<SlotHead*>(data_); }
  /// Returns the number of the step in the slot, which is set before the first byte of that step is written.  The
  /// writer may drop a reader and reuse the slot while that reader still reads; therefore a reader checks the number
  /// again after reading, and discards the data if the number has changed.
  std::int64_t step() const;
  /// Called by the writer.  A reader that sees the number also sees all earlier writes; if it has seen a later write,
  /// its next step() returns this number or a later one.
  void set_step(std::int64_t step);
  std::int64_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_.number(); }

 private:
  /// Maps the file with a new length instead of the present mapping.
  void remap(std::int64_t bytes, Access access);

  base::Descriptor descriptor_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  Access access_ = Access::kRead;
};

}  // namespace plait::pipe
