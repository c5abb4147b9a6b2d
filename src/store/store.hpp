/// The interface of stores: bytes at offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/identity.hpp"

namespace plait::store {

/// A range of `bytes` bytes at `offset` of the store and at `data` in memory.
struct ReadSegment {
  std::int64_t offset = 0;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};
struct WriteSegment {
  std::int64_t offset = 0;
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

/// The distribution of the bytes of a store: in stripes of `unit` bytes over `disks` disks. Both are 0 if the store is
/// not striped.
struct Striping {
  std::int64_t unit = 0;
  std::int64_t disks = 0;
};

/// A submitted batch. It must be completed exactly once. Until then the caller must not change the memory of writes,
/// and the memory of reads is undefined.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Completes the batch. A read past the end of the store is an error.
  /// errors  kSystem: the message names the store, the offset and the cause.
  virtual void complete() = 0;
};

/// Bytes at offsets.  threads  Any number at once, on segments that do not overlap.
class Store {
 public:
  virtual ~Store() = default;
  virtual const std::string& name() const = 0;
  /// Describes the storage of its bytes; may be empty.
  virtual std::string description() const { return {}; }
  /// Returns the striping to which accesses should conform. A format with chunks states its chunk shape elsewhere.
  virtual Striping striping() const { return {}; }
  /// Returns true if most of its bytes would come from a disk, as far as a quick check can tell.
  virtual bool is_cold() { return false; }
  /// Returns the number of bytes in the store.
  virtual std::int64_t size() = 0;
  /// Returns true if writing after its end extends it.
  virtual bool grows() const { return true; }
  virtual std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) = 0;
  virtual std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) = 0;
  /// Called when an access that wrote has ended: writes buffered data, so that other processes can read them.
  /// errors  kSystem.
  virtual void flush() {}
  /// Called instead of flush() if such an access has failed, when none of its writes is in flight: discards buffered
  /// data.
  virtual void discard_buffered() noexcept {}
  /// Sets how many bytes of decompressed chunks a store caches for later reads of other parts of these chunks. Stores
  /// without compressed chunks ignore it.
  virtual void resize_cache(std::int64_t /*bytes*/) {}
  /// Returns the identity of the ordinary file with these bytes at the same offsets, under name(); empty if there is
  /// none.
  /// errors  kSystem.
  virtual std::optional<Identity> file_identity() const { return {}; }
  /// Returns the identity of an object's content, which no other content of any object has, if this store has the bytes
  /// of one object at the same offsets. The text is empty if the server does not state an identity. Returns nothing for
  /// other stores.
  virtual std::optional<std::string> object_identity() const { return {}; }
  /// Returns once all completed writes survive a loss of power.
  virtual void sync() = 0;

  void read(std::vector<ReadSegment> segments) { submit_read(std::move(segments))->complete(); }
  void write(std::vector<WriteSegment> segments) { submit_write(std::move(segments))->complete(); }
};

}  // namespace plait::store
