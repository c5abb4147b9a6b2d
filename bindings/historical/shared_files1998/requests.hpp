/// Requests under way, by the numbers that programs hold.
#pragma once

#include <cstdint>
#include <optional>

#include "plait/distant.hpp"

namespace plait::ga {

/// What stands for no request.
inline constexpr int kNoId = -1;

struct Pending {
  DistantRequest request;
  bool writes;
};

/// Returns the request's number, from 0 on; numbers are not used again soon.
int keep(Pending pending);
/// The request, which the number stands for no more.
std::optional<Pending> take(std::int64_t id);

}  // namespace plait::ga
