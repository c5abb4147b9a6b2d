/// The registry of replacement policies.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "simulation/cache/policy_kind.hpp"

namespace plait::simulation {

/// All policies in the order of listings.
std::span<const PolicyKind* const> policies();

/// A policy with its parameters: `lru`, `2q?in=25%&out=50%`. Capitals and hyphens of its name do not matter, and
/// `opt` and `min` mean `belady`.
/// errors  kArgument: an unknown name, with all names and the nearest one; and those of Parameters.
class NamedPolicy {
 public:
  explicit NamedPolicy(std::string_view text);

  const PolicyKind& kind() const noexcept { return kind_; }
  /// errors  kArgument: a parameter that does not fit the cache.
  std::unique_ptr<Policy> make(const CacheShape& shape) const { return kind_.make(shape, parameters_); }
  /// Makes the policy in a cache that only distinguishes hits from misses.
  std::unique_ptr<Counter> count(const CacheShape& shape) const { return kind_.count(shape, parameters_); }

 private:
  const PolicyKind& kind_;
  Parameters parameters_;
};

}  // namespace plait::simulation
