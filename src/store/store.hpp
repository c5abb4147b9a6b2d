/// Something with bytes at offsets: one interface, one folder a kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/identity.hpp"

namespace plait::store {

/// `bytes` bytes at `offset` of the store and at `data` in memory.
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

/// How the bytes of a store are cut up where they lie: in stripes of `unit` bytes that are distributed over `disks`
/// disks. Both 0: they are not.
struct Striping {
  std::int64_t unit = 0;
  std::int64_t disks = 0;
};

/// A submitted batch.  Complete it exactly once; its memory stays untouched (writes) or undefined (reads) until then.
class Pending {
 public:
  virtual ~Pending() = default;
  /// errors  kSystem: names the store, the offset and the cause.  A read that meets the end of the store is an error.
  virtual void complete() = 0;
};

/// threads  Any number at once, on segments that do not overlap.
class Store {
 public:
  virtual ~Store() = default;
  virtual const std::string& name() const = 0;
  /// How its bytes lie on disks, in words; empty where there is nothing to tell.
  virtual std::string description() const { return {}; }
  /// What accesses best conform to; a container that keeps an array in chunks says so itself.
  virtual Striping striping() const { return {}; }
  /// Whether most of its bytes would come from a disk, as far as a short look tells.
  virtual bool is_cold() { return false; }
  /// Bytes in the store.
  virtual std::int64_t size() = 0;
  /// Whether writing behind its end makes it longer.
  virtual bool grows() const { return true; }
  virtual std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) = 0;
  virtual std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) = 0;
  /// Called when an access that wrote has ended: writes what has been buffered to combine it with other writes, so that
  /// other processes find it.  errors  kSystem.
  virtual void flush() {}
  /// Called instead if such an access has failed, when none of its writes is under way any more: discards what has been
  /// buffered.
  virtual void forget() noexcept {}
  /// The ordinary file that has these bytes at the same offsets, under name(); empty: there is none.  errors  kSystem.
  virtual std::optional<Identity> file_identity() const { return {}; }
  /// Returns once all completed writes survive a loss of power.
  virtual void sync() = 0;

  void read(std::vector<ReadSegment> segments) { submit_read(std::move(segments))->complete(); }
  void write(std::vector<WriteSegment> segments) { submit_write(std::move(segments))->complete(); }
};

}  // namespace plait::store
