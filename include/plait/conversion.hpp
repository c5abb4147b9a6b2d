/// Conversions: compositions of two layouts, which determine the elements that each rank sends to each other rank.
///
/// Pure: ranks are integers, no MPI and no I/O; may be used from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plait/layout.hpp"

namespace plait {

/// The elements that one rank sends to, or receives from, another one (or itself).
struct Message {
  std::int64_t rank = 0;      ///< the other rank
  std::int64_t elements = 0;  ///< number of elements
  /// Number of runs that are contiguous in both local arrays; a part that a periodic halo wraps around is a separate
  /// run.
  std::int64_t runs = 0;
  bool operator==(const Message&) const = default;
};

/// The conversion of arrays with the layout `source` into arrays with the layout `target`.  It is stored symbolically:
/// its size depends neither on the number of elements nor on the number of ranks.
///
/// If the source has replicas, a rank that holds one of them takes all its elements from that replica, and any other
/// rank r takes them from replica r mod the number of replicas.  Each copy of the target gets its elements.  With
/// `fill_halo` the halo of the target is filled as well.
class Conversion {
 public:
  /// errors  kArgument: the layouts are of different shapes.
  Conversion(Layout source, Layout target, bool fill_halo = false);

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  bool fills_halo() const { return fill_halo_; }

  /// Returns the conversion in the opposite direction.
  Conversion inverse() const;
  /// Returns this conversion followed by another one.  errors  kArgument: the other one begins with another layout.
  Conversion then(const Conversion& next) const;

  /// Returns the messages that a rank of the source sends, by ascending rank of the receiver.
  /// cost    O(pieces of one period for each partner in each dimension + messages), independent of the number of
  /// elements.
  /// errors  kArgument: a rank that the source does not have.
  std::vector<Message> sends(std::int64_t rank) const;
  /// Returns the messages that a rank of the target receives, by ascending rank of the sender.
  std::vector<Message> receives(std::int64_t rank) const;

  /// Returns the block size: the minimum length of a run in elements (DeBenedictis & del Rosario 1993, section 7.4,
  /// without the restriction to powers of two). 0 if no element is moved.
  std::int64_t block() const;

  /// Describes the conversion in a few lines: both layouts, the block size, and the traffic if it is cheap to compute.
  std::string explain() const;

 private:
  Layout source_;
  Layout target_;
  bool fill_halo_;
};

/// Returns the conversion between two layouts.  errors  kArgument: the layouts are of different shapes.
Conversion compose(const Layout& source, const Layout& target, bool fill_halo = false);

}  // namespace plait
