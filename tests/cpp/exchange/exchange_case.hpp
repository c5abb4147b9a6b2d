// Helpers of tests of redistributions: arrays whose bytes depend on their positions, and one worker's part of a call.
#pragma once

#include "exchange/exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "access/access.hpp"
#include "access_case.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "plait/redistribute.hpp"
#include "transport/shared_area.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace redistribute_case {

using access_case::Bytes;
using access_case::Case;
using access_case::const_parts;
using access_case::mutable_parts;
using access_case::pick;
using access_case::Random;
using oracle::expect_rejected;
using oracle::to_size_t;
using plait::ConstPart;
using plait::Distribution;
using plait::Extents;
using plait::Layout;
using plait::MutablePart;
using plait::Order;
using plait::copy::LocalArray;
using plait::exchange::Exchange;
using plait::exchange::Reach;
using plait::plan::Pairs;
using plait::transport::Transport;
using plait::transport::thread::run_team;

inline constexpr std::byte kUntouched{0xE1};

/// Returns the local arrays of a layout, for an array whose bytes depend on their positions.
inline std::vector<Bytes> make_arrays(const Layout& layout, std::int64_t element_bytes) {
  const Case access{layout.shape(), Order::kC, {}, layout, element_bytes, 0};
  return access_case::make_locals(access, access_case::pattern(access_case::store_bytes(access)));
}

/// Returns arrays of the same sizes that contain only kUntouched.
inline std::vector<Bytes> untouched_like(const std::vector<Bytes>& arrays) {
  std::vector<Bytes> result;
  for (const Bytes& array : arrays) result.emplace_back(array.size(), kUntouched);
  return result;
}

/// Returns the conversion of whole arrays.
inline Pairs whole_arrays(const Layout& source, const Layout& target) { return {source, target}; }

/// Runs a planned redistribution on one worker by the calls that a library function makes: prepare, agree, run, agree.
/// Null: the worker has no source or no target.
inline void run_exchange(Transport& transport, Exchange& exchange, const LocalArray* from, const LocalArray* to) {
  plait::collective::prepare(transport);
  exchange.announce(from, to);
  plait::collective::agree(transport, "run", nullptr);
  plait::collective::agree(transport, plait::collective::caught([&] {
                             if (exchange.pairs().elements() > 0) exchange.run();
                           }));
}

/// Plans and runs a redistribution on one worker. Every worker passes the arrays of all ranks.
inline void redistribute_by(Transport& transport, const Pairs& pairs, const std::vector<LocalArray>& from,
                            const std::vector<LocalArray>& to, std::int64_t element_bytes, std::int64_t memory) {
  const auto local_array = [&](const Layout& layout, const std::vector<LocalArray>& arrays) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    return rank < arrays.size() && layout.local_elements(transport.rank()) > 0 ? &arrays[rank] : nullptr;
  };
  std::optional<Exchange> exchange;
  plait::collective::agree(
      transport, "plan", plait::collective::caught([&] { exchange.emplace(pairs, element_bytes, memory, transport); }));
  run_exchange(transport, *exchange, local_array(pairs.source(), from), local_array(pairs.target(), to));
}

inline std::string describe(const Layout& source, const Layout& target, std::int64_t element_bytes,
                            std::int64_t memory) {
  return oracle::describe(source) + " -> " + oracle::describe(target) + ", elements of " +
         std::to_string(element_bytes) + " bytes, memory " + std::to_string(memory);
}

inline const std::vector<Extents> kShapes{{1},    {7},    {0},       {100},     {5, 6},
                                          {1, 9}, {8, 8}, {3, 4, 5}, {2, 0, 3}, {2, 3, 2, 4}};

}  // namespace redistribute_case
