/// Requests in progress, by the numbers that programs use.
#pragma once

#include <cstdint>
#include <optional>

#include "plait/distant.hpp"

namespace plait::ga {

/// The number that denotes no request.
inline constexpr int kNoId = -1;

struct Pending {
  DistantRequest request;
  bool writes;
};

/// Stores a request and returns its number, from 0 on. Numbers are not reused soon.
int keep(Pending pending);
/// Removes and returns a request.
std::optional<Pending> take(std::int64_t id);

}  // namespace plait::ga
