/// The elements that one rank of a conversion sends to another one.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/array.hpp"
#include "plait/layout.hpp"
#include "plan/pieces.hpp"

namespace plait::engine {

/// A product of pieces, one list for each dimension.  Packed, its elements lie in the target's local order.
class PackedMessage {
 public:
  PackedMessage(const Layout& source, std::int64_t sender, const Layout& target, std::int64_t receiver,
                std::int64_t element_bytes);

  std::int64_t elements() const { return elements_; }

  /// Packs or unpacks the elements [begin, end) of the message.
  void pack(std::int64_t begin, std::int64_t end, const LocalArray& from, std::byte* packed) const;
  void unpack(std::int64_t begin, std::int64_t end, const std::byte* packed, const LocalArray& to) const;
  /// Copies the whole message without packing it.
  void copy(const LocalArray& from, const LocalArray& to) const;

 private:
  template <typename Visit>
  void for_each_box(std::int64_t begin, std::int64_t end, Visit&& visit) const;

  std::int64_t element_bytes_;
  std::int64_t elements_ = 1;
  std::vector<std::size_t> order_;    // dimensions, slowest of the target's order first
  std::vector<plan::Pieces> pieces_;  // in that order
  Extents counts_;                    // elements of each, in that order
};

}  // namespace plait::engine
