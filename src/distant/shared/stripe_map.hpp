/// The distribution of the bytes of a shared file over its components.
#pragma once

#include <cstdint>
#include <vector>

namespace plait::distant::shared {

/// The bytes of one access: one contiguous range of a component, which may be several stripes of the request.
struct Batch {
  int component = 0;
  std::int64_t position = 0;  ///< in the component
  std::int64_t bytes = 0;
  bool operator==(const Batch&) const = default;
};

/// Stripe s of `unit` bytes is in component s mod P, at position (s div P) * unit.  All values may be up to 2^63 - 1.
class StripeMap {
 public:
  /// Constructs the map of a file with a single component.
  StripeMap() : StripeMap(1, 1) {}
  StripeMap(std::int64_t unit, int components);

  int components() const { return components_; }
  /// Returns the component that has the byte at an offset of the file.
  int component_at(std::int64_t offset) const;
  /// Returns the position of that byte in its component.
  std::int64_t position_at(std::int64_t offset) const;
  /// Returns the offset of a position of a component; 2^63 - 1 if it would be larger.
  std::int64_t offset_at(int component, std::int64_t position) const;
  /// Returns the length of a component in a file of `size` bytes.
  std::int64_t length(int component, std::int64_t size) const;
  /// Returns the smallest size of a file in which a component has `length` bytes.
  std::int64_t end(int component, std::int64_t length) const;
  /// Returns the number of bytes from a position to the end of its stripe, which are contiguous in the file.
  std::int64_t contiguous_bytes(std::int64_t position) const { return unit_ - position % unit_; }

  /// Returns the accesses that move `bytes` bytes at `offset`, of at most `max_bytes` bytes each: several whole
  /// stripes, or a part of one.  The first accesses go to as many components as possible.
  std::vector<Batch> batches(std::int64_t offset, std::int64_t bytes, std::int64_t max_bytes) const;

  /// Calls `body(position, at, bytes)` for each part of a batch that is contiguous in the file, for a request at
  /// `offset`; `at` is relative to that offset.
  template <typename Body>
  void each_part(const Batch& batch, std::int64_t offset, Body&& body) const {
    for (std::int64_t done = 0; done < batch.bytes;) {
      const std::int64_t position = batch.position + done;
      const std::int64_t rest = batch.bytes - done;
      const std::int64_t part = contiguous_bytes(position) < rest ? contiguous_bytes(position) : rest;
      body(position, offset_at(batch.component, position) - offset, part);
      done += part;
    }
  }

 private:
  std::int64_t unit_;
  int components_;
};

}  // namespace plait::distant::shared
