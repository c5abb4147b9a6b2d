/// Checks that arrays that one call fills and reads do not share memory.
#pragma once

#include <cstdint>
#include <span>

#include "copy/local_array.hpp"
#include "plait/layout.hpp"
#include "plan/section/section_products.hpp"

namespace plait::core {

/// Checks the elements that a read fills: the owned parts, or the halos as well.
/// errors  kArgument: elements that share bytes, within one array or between two.
/// cost    O(dimensions) for arrays whose address ranges do not overlap, O(arrays * log(arrays)) for many; each pair of
///         interleaved arrays costs more.
void check_filled(const Layout& layout, std::span<const copy::LocalArray> arrays, bool halos,
                  std::int64_t element_bytes);

/// Checks the elements that a redistribution fills, and that it does not read them. errors, cost: as check_filled().
void check_moved(const plan::Pairs& pairs, std::span<const copy::LocalArray> from, std::span<const copy::LocalArray> to,
                 std::int64_t element_bytes);

}  // namespace plait::core
