/// The calls that made datatypes, and their arguments.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/layout.hpp"

namespace plait::mpiio {

/// The call that made a datatype, and the numbers of its arguments.
struct Envelope {
  int combiner = MPI_COMBINER_NAMED;
  std::size_t integers = 0;
  std::size_t addresses = 0;
  std::size_t counts = 0;
  std::size_t types = 0;

  /// True for types that MPI defines, which have no arguments and must not be freed.
  bool is_predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
};

/// Returns nothing if the MPI reports an error.
std::optional<Envelope> read_envelope(MPI_Datatype type);

/// The arguments that a datatype was made with.
class Contents {
 public:
  explicit Contents(MPI_Datatype type);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  /// False if the MPI does not return the arguments.
  bool is_known() const { return known_; }
  const Envelope& envelope() const { return envelope_; }
  /// True for a type that was made by a function with _c, whose sizes are not among the integers.
  bool has_counts() const { return !counts_.empty(); }
  std::span<const int> integers() const { return integers_; }
  std::span<const MPI_Count> counts() const { return counts_; }
  std::span<const MPI_Aint> addresses() const { return addresses_; }
  std::span<const MPI_Datatype> types() const { return types_; }
  MPI_Datatype base() const { return types_.empty() ? MPI_DATATYPE_NULL : types_.front(); }

 private:
  int read(MPI_Datatype type);

  bool known_ = false;
  Envelope envelope_;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Datatype> types_;
};

/// Reads the arguments of a call in their order: size() reads a number that functions with _c take as MPI_Count, and
/// integer() one that is an int in all functions.
class Arguments {
 public:
  explicit Arguments(const Contents& contents)
      : integers_(contents.integers()), counts_(contents.counts()), has_counts_(contents.has_counts()) {}

  bool is_complete() const { return complete_; }
  int integer() { return take(integers_); }
  std::int64_t size() { return has_counts_ ? take(counts_) : integer(); }
  std::vector<int> integers(int number) {
    std::vector<int> values;
    for (int i = 0; i < number && complete_; ++i) values.push_back(integer());
    return values;
  }
  Extents sizes(int number) { return has_counts_ ? take_all(counts_, number) : take_all(integers_, number); }
  std::optional<Order> order() {
    const int value = integer();
    if (value == MPI_ORDER_C) return Order::kC;
    if (value == MPI_ORDER_FORTRAN) return Order::kFortran;
    return std::nullopt;
  }

 private:
  template <typename Number>
  Number take(std::span<const Number>& numbers) {
    if (numbers.empty()) {
      complete_ = false;
      return 0;
    }
    const Number value = numbers.front();
    numbers = numbers.subspan(1);
    return value;
  }

  template <typename Number>
  Extents take_all(std::span<const Number>& numbers, int number) {
    const auto size = static_cast<std::size_t>(number);
    if (number < 0 || numbers.size() < size) {
      complete_ = false;
      return {};
    }
    const Extents values(numbers.begin(), numbers.begin() + number);
    numbers = numbers.subspan(size);
    return values;
  }

  std::span<const int> integers_;
  std::span<const MPI_Count> counts_;
  bool has_counts_;
  bool complete_ = true;
};

/// The arguments of a call that lists blocks, such as MPI_Type_indexed.
class BlockList {
 public:
  /// in_bytes  The offsets are addresses instead of extents of the type.
  /// has_lengths  Each block has a length of its own; otherwise all have the same one.
  BlockList(const Contents& contents, bool in_bytes, bool has_lengths);

  /// False if the numbers of arguments are not those of such a call.
  bool is_complete() const { return complete_; }
  std::size_t size() const { return size_; }
  std::int64_t length(std::size_t block) const { return get(1 + (has_lengths_ ? block : 0)); }
  std::int64_t offset(std::size_t block) const {
    return addresses_.empty() ? get(first_offset_ + block) : addresses_[block];
  }

 private:
  std::int64_t get(std::size_t argument) const {
    return counts_.empty() ? integers_[argument] : static_cast<std::int64_t>(counts_[argument]);
  }

  std::span<const int> integers_;
  std::span<const MPI_Count> counts_;
  std::span<const MPI_Aint> addresses_;  ///< the offsets, if they are not among the other arguments
  std::size_t size_ = 0;
  std::size_t first_offset_ = 0;
  bool has_lengths_;
  bool complete_ = false;
};

}  // namespace plait::mpiio
