/// Memory of a writer's process that readers on the same host map.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/descriptor.hpp"

namespace plait::pipe {

/// What a slot begins with.  The step is there once the step number is, and does not change until nobody reads it.
struct SlotHead {
  std::int64_t bytes;  ///< of the whole slot: more than a reader has mapped where it has grown
  std::int64_t step;
};

/// Part of a process's addresses, until nobody uses it any more.
class Mapping {
 public:
  Mapping(std::byte* data, std::int64_t bytes) : data_(data), bytes_(bytes) {}
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  /// The number of the step that is there now; -1: none, or one that is being written.
  std::int64_t step() const {
    return std::atomic_ref(reinterpret_cast<SlotHead*>(data_)->step).load(std::memory_order_acquire);
  }

 private:
  std::byte* data_;
  std::int64_t bytes_;
};

/// A file in memory, without a name: nothing stays of it when the last process has gone.  It only grows.
/// threads  One at a time.
class SlotMemory {
 public:
  SlotMemory() = default;
  SlotMemory(const SlotMemory&) = delete;
  SlotMemory& operator=(const SlotMemory&) = delete;

  /// Of a writer: makes it at least so long; data() may be another one afterwards, and stays valid for who holds the
  /// mapping.  errors  kSystem: no memory.
  void grow(std::int64_t bytes);
  /// Of a writer, where there is memory: says which step is there.
  void set_step(std::int64_t step);
  /// Of a reader: maps what it has received, as long as it is now.
  /// errors  kSystem: EPROTO where it is no memory of a writer, which could become shorter.
  void map(base::Descriptor descriptor);
  /// Of a reader: maps what has been added.
  void map_more();

  /// nullptr: nothing has been made or mapped.
  std::byte* data() const { return mapping_ ? mapping_->data() : nullptr; }
  std::int64_t bytes() const { return mapping_ ? mapping_->bytes() : 0; }
  /// The bytes that the writer has, and the step; there is memory.
  std::int64_t whole() const;
  std::int64_t step() const { return mapping_->step(); }
  std::shared_ptr<const Mapping> mapping() const { return mapping_; }
  int descriptor() const { return descriptor_.number(); }

 private:
  void map_again(std::int64_t bytes, bool writable);

  base::Descriptor descriptor_;
  std::shared_ptr<Mapping> mapping_;
};

}  // namespace plait::pipe
