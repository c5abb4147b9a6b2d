/// All replacement policies that there are, by name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

/// In the order in which they are listed.
std::span<const PolicyKind* const> policies();

/// A policy with its parameters: `lru`, `2q?in=25%&out=50%`; capitals and hyphens of its name do not matter, and `opt`
/// and `min` are `belady`.
/// errors  kArgument: no policy of this name, with those that there are and the nearest; and those of Parameters.
class NamedPolicy {
 public:
  explicit NamedPolicy(std::string_view text);

  const PolicyKind& kind() const noexcept { return kind_; }
  /// errors  kArgument: a parameter that does not fit the cache.
  std::unique_ptr<Policy> make(const CacheShape& shape) const { return kind_.make(shape, parameters_); }
  /// The same, in a cache that only tells hits from misses.
  std::unique_ptr<Counter> count(const CacheShape& shape) const { return kind_.count(shape, parameters_); }

 private:
  const PolicyKind& kind_;
  Parameters parameters_;
};

}  // namespace plait::simulation
