/// Packs the elements that one rank of a conversion sends to another one into a buffer, and unpacks them there.
#pragma once

#include <cstddef>
#include <vector>

#include "copy/local_array.hpp"
#include "exchange/share.hpp"

namespace plait::exchange {

/// The elements of a message: products of pieces (plan/conversion/products.hpp), one after another.  In packed form the
/// elements of each product are in the order of the target's local array.
/// threads  Any; pack() and unpack() allocate a little memory.
class PackedMessage {
 public:
  PackedMessage(std::vector<plan::Product> products, const DimensionOrder& target_order, std::int64_t element_bytes);

  std::int64_t elements() const { return elements_; }

  /// Packs or unpacks the elements [begin, end) of the message.
  void pack(std::int64_t begin, std::int64_t end, const copy::LocalArray& from, std::byte* packed) const;
  void unpack(std::int64_t begin, std::int64_t end, const std::byte* packed, const copy::LocalArray& to) const;

 private:
  struct Part {
    plan::Product pieces;    // of each dimension, slowest dimension of the target first
    Extents counts;          // elements of each dimension
    std::int64_t first = 0;  // elements of earlier products
    std::int64_t elements = 1;
  };
  template <typename Visit>
  void for_each_nest_in(std::int64_t begin, std::int64_t end, const Extents& strides, bool packing,
                        Visit&& visit) const;

  std::int64_t element_bytes_;
  std::int64_t elements_ = 0;
  DimensionOrder order_;
  std::vector<Part> parts_;
};

}  // namespace plait::exchange
