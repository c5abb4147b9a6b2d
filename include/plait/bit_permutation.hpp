/// Layouts whose sizes are powers of two, as permutations of the bits of an element's number (DeBenedictis & del
/// Rosario 1993, section 7).
///
/// An element has a number in the file; its bits, put in another order, are the number of the unit (the rank, or the
/// disk) that holds the element and the element's position in that unit.  Pure; may be used from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plait/layout.hpp"

namespace plait {

/// The location of an element: a unit, and the position in it.
struct UnitPosition {
  std::int64_t unit = 0;
  std::int64_t position = 0;
  bool operator==(const UnitPosition&) const = default;
};

/// The location of elements, in patterns of '0', '1' and letters that stand for one bit each, most significant first.
struct UnitPattern {
  std::string unit;
  std::string position;
  bool operator==(const UnitPattern&) const = default;
};

/// A permutation of bits from a unit and a position to a unit and a position.  A source (or target) that is the file
/// itself has a position only, and no bits of a unit.
class BitPermutation {
 public:
  /// `unit` and `position` list, for each bit of the target, most significant first, the number of the source bit that
  /// it equals. The bits of the source count from 0, the least significant one: first those of its position, then the
  /// `source_unit_bits` of its unit.
  /// errors  kArgument: more than 62 bits, or a bit that is named twice or that the source does not have.
  BitPermutation(std::vector<int> unit, std::vector<int> position, int source_unit_bits = 0);

  const std::vector<int>& unit() const { return unit_; }
  const std::vector<int>& position() const { return position_; }
  int source_unit_bits() const { return source_unit_bits_; }
  int source_position_bits() const;

  /// Returns the permutation from the target to the source.
  BitPermutation inverse() const;
  /// Returns this permutation followed by `other`.  If D1 and D2 are layouts of one file, D1.inverse().then(D2) maps a
  /// unit and position of D1 directly to those of D2 (figure 8).
  /// errors  kArgument: this target and the other source have different numbers of bits.
  BitPermutation then(const BitPermutation& other) const;

  /// Returns the unit and position in the target of an element of the source.
  /// errors  kArgument: a number below 0 or with too many bits.
  UnitPosition apply(const UnitPosition& from) const;
  /// Returns the pattern of all positions to which the positions of a pattern are mapped (figure 9).
  /// errors  kArgument: a pattern that does not have one character, 0, 1 or a letter, for each bit.
  UnitPattern trace(const UnitPattern& from) const;

  /// Returns the number of elements adjacent in the source that stay adjacent in the target (section 7.4): 2^k for the
  /// k low bits of the position that are equal on both sides.
  std::int64_t block() const;

  bool operator==(const BitPermutation&) const = default;

 private:
  std::vector<int> unit_;
  std::vector<int> position_;
  int source_unit_bits_;
};

/// Returns three rows: the bits of the source, and below each of them the bit of the target's unit or position that
/// equals it.
std::string to_string(const BitPermutation& permutation);

/// Returns a layout as a permutation from the number of an element, in `order` of the whole array, to rank and position
/// in the dense local array.
/// cost    one look-up in the layout for each bit, and one comparison of layouts; independent of the number of
///         elements.
/// errors  kArgument naming the dimension and the size: a size, a number of ranks or a block that is not a power of
///         two; copies; a halo; ranks other than 0, 1, 2, ...; an element 0 that is not the first one of rank 0.
BitPermutation bit_permutation(const Layout& layout, Order order = Order::kC);

}  // namespace plait
