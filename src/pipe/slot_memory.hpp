/// Memory of a process of a writer, which readers on the same host map.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/descriptor.hpp"

namespace plait::pipe {

/// The header of a slot.
struct SlotHead {
  std::int64_t bytes;  ///< of the whole slot; more than a reader has mapped if it has grown
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
  /// Access of a reader.
  enum class Access : std::uint8_t { kRead, kWrite };
  /// Called by a reader: maps the received descriptor at its present length.
  /// errors  kSystem: EPROTO if it is not sealed against shrinking.
  void map(base::Descriptor descriptor, Access access = Access::kRead);
  /// Called by a reader: maps the added part.
  void map_more();

  /// nullptr if nothing is created or mapped.
  std::byte* data() const { return data_; }
  /// The length that the writer has.  pre  There is memory.
  std::int64_t whole() const;
  SlotHead& head() const { return *reinterpret_cast<SlotHead*>(data_); }
  /// The number of the step in the slot, set before the first byte of that step is written.  A reader that the writer
  /// has dropped may not know it yet; so a reader checks the number again after reading, and discards what it read if
  /// the number has changed.
  std::int64_t step() const;
  /// Called by the writer.  A reader that sees the number also sees all earlier writes, and no later one.
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
