/// How the bytes of a shared file are distributed over its components.
#pragma once

#include <cstdint>
#include <vector>

namespace plait::distant::shared {

/// What one access moves: bytes that lie together in a component, and in stripes in the request.
struct Batch {
  int component = 0;
  std::int64_t position = 0;  ///< in the component
  std::int64_t bytes = 0;
  bool operator==(const Batch&) const = default;
};

/// Stripe s of `unit` bytes is in component s mod P, at (s div P) * unit.  Values up to 2^63 - 1 everywhere.
class StripeMap {
 public:
  /// All in one component.
  StripeMap() : StripeMap(1, 1) {}
  StripeMap(std::int64_t unit, int components);

  int components() const { return components_; }
  /// The component of the byte at an offset of the file, and its position there.
  int component_of(std::int64_t offset) const;
  std::int64_t position_of(std::int64_t offset) const;
  /// The offset of a position of a component; 2^63 - 1 where it would be further.
  std::int64_t offset_of(int component, std::int64_t position) const;
  /// The bytes that a component has of a file of `size` bytes.
  std::int64_t length(int component, std::int64_t size) const;
  /// The least size of a file of which a component has `length` bytes.
  std::int64_t end(int component, std::int64_t length) const;
  /// How many bytes from a position on lie together in the file.
  std::int64_t together(std::int64_t position) const { return unit_ - position % unit_; }

  /// The accesses that move `bytes` bytes at `offset`, of at most `most` bytes each: whole stripes together, or parts
  /// of one.  In such an order that the first ones go to as many components as there are.
  std::vector<Batch> batches(std::int64_t offset, std::int64_t bytes, std::int64_t most) const;

  /// Calls `body(position, at, bytes)` for what lies together of a batch of a request at `offset`; `at` counts from
  /// there.
  template <typename Body>
  void each_part(const Batch& batch, std::int64_t offset, Body&& body) const {
    for (std::int64_t done = 0; done < batch.bytes;) {
      const std::int64_t position = batch.position + done;
      const std::int64_t rest = batch.bytes - done;
      const std::int64_t part = together(position) < rest ? together(position) : rest;
      body(position, offset_of(batch.component, position) - offset, part);
      done += part;
    }
  }

 private:
  std::int64_t unit_;
  int components_;
};

}  // namespace plait::distant::shared
