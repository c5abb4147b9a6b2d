/// What describes a replacement policy: its registry entry, its parameters, and what it must know.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/cache/policy.hpp"

namespace plait::simulation {

/// The cache for which a policy is made.
struct CacheShape {
  Slot slots = 0;               ///< capacity in blocks, at least 1
  std::int64_t block = 0;       ///< bytes of a block; 0: blocks have no size, and parameters in bytes are errors
  std::uint32_t processes = 0;  ///< upper bound of process numbers; 0: unknown, if foresight is not kProcesses
};

/// What a policy needs to know about the rest of the trace at each use of a block.
enum class Foresight : std::uint8_t {
  kNone,
  kNext,       ///< Use::next, the next use of the block
  kProcesses,  ///< Use::processes, the number of processes that use the block, and CacheShape::processes
};

/// The parameters of a policy in the spelling of the user, `small=10%` in `s3fifo?small=10%`.
class Parameters {
 public:
  /// text    the part after the question mark: names and values separated by &
  /// known   all parameters of the policy with their defaults, in the same form
  /// errors  kArgument: a parameter that the policy does not have, or a repeated one.
  Parameters(std::string_view policy, std::string_view text, std::string_view known);

  /// Returns the value of a parameter, from the user or its default.
  std::string_view text(std::string_view name) const;
  /// Returns an amount such as `25%` or `4MiB` in blocks of the cache: rounded down, at least one.
  /// errors  kArgument: not an amount, no unit, zero, or more than `max_caches` times the cache.
  Slot blocks(std::string_view name, const CacheShape& shape, std::uint32_t max_caches = 1) const;

 private:
  struct Parameter {
    std::string name;
    std::string value;
  };
  static std::vector<Parameter> split(std::string_view policy, std::string_view text);

  std::string policy_;
  std::vector<Parameter> arguments_;
  std::vector<Parameter> defaults_;
};

/// A cache that only distinguishes hits from misses.
class Counter {
 public:
  virtual ~Counter() = default;
  /// Uses blocks one after the other. hits[k] becomes 1 if the k-th was resident and 0 if it was not.
  virtual void use(std::span<const Use> uses, std::span<std::uint8_t> hits) = 0;
};

/// A policy in the registry.
struct PolicyKind {
  std::string_view name;
  std::string_view about;       ///< which block the policy replaces, as a noun phrase
  std::string_view parameters;  ///< names and defaults, such as "in=25%&out=50%"; empty: none
  Foresight foresight = Foresight::kNone;
  std::unique_ptr<Policy> (*make)(const CacheShape& shape, const Parameters& parameters) = nullptr;
  std::unique_ptr<Counter> (*count)(const CacheShape& shape, const Parameters& parameters) = nullptr;
};

}  // namespace plait::simulation
