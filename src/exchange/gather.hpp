/// Fills local arrays (targets) from other arrays (sources) that this process can read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copy/local_array.hpp"
#include "exchange/rows.hpp"
#include "exchange/share.hpp"
#include "exchange/tiles.hpp"

namespace plait::exchange {

/// The part `number`, from 0, of the work, which is divided into `of` equal parts.
struct WorkPart {
  std::int64_t number = 0;
  std::int64_t of = 1;
};

/// The elements that one target takes from sources, and the faster of two methods to copy them: row by row (rows.hpp)
/// or tile by tile (tiles.hpp).
class Gather {
 public:
  Gather(const Extents& target_shape, const DimensionOrder& source_order, const DimensionOrder& target_order,
         std::int64_t element_bytes, std::vector<Share> shares);

  /// Prepares for arrays with these strides.
  /// cost  The first call with an array that has gaps in its rows also plans tiles.
  void fit(std::span<const copy::LocalArray> sources, const copy::LocalArray& target);
  /// Returns the number of units of work, which are rows or tiles. They follow each other in the target's memory.
  std::int64_t units() const { return by_rows_ ? rows_->count() : tiles_ ? tiles_->count() : 0; }
  std::int64_t stage_bytes() const;
  /// Returns the plan by rows, or nullptr if the target is filled by tiles.
  const Rows* rows() const { return by_rows_ ? &*rows_ : nullptr; }
  const std::vector<Share>& shares() const { return shares_; }
  std::int64_t element_bytes() const { return element_bytes_; }

 private:
  friend void gather(std::span<const Gather* const> gathers, std::span<const copy::LocalArray> sources,
                     std::span<const copy::LocalArray> targets, std::byte* stage, WorkPart part);

  Extents shape_;
  DimensionOrder source_order_;
  DimensionOrder target_order_;
  std::int64_t element_bytes_;
  std::vector<Share> shares_;
  std::optional<Rows> rows_;
  std::optional<Tiles> tiles_;
  bool by_rows_ = false;
};

/// Does a part of the work on several targets.  The targets advance together, because they read neighbouring memory.
/// The caller then waits for the parts of other threads or processes.
/// stage Memory of the largest stage_bytes() of the gathers, at a multiple of 64; each thread has its own.
/// threads  Any, each for its own part.
void gather(std::span<const Gather* const> gathers, std::span<const copy::LocalArray> sources,
            std::span<const copy::LocalArray> targets, std::byte* stage, WorkPart part);

/// Memory for a stage, at a multiple of 64.
class Stage {
 public:
  explicit Stage(std::int64_t bytes) : memory_(static_cast<std::size_t>(bytes) + 64) {}
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - address % 64) % 64;
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(memory_.size()) - 64; }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace plait::exchange
