/// What a policy is called and made with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/cache/policy.hpp"

namespace plait::simulation {

/// What a policy is made for.
struct CacheShape {
  Slot slots = 0;               ///< its capacity in blocks, at least 1
  std::int64_t block = 0;       ///< bytes of a block; 0: blocks have no size, then parameters in bytes are refused
  std::uint32_t processes = 0;  ///< processes have numbers below it; 0: not known, where foresight is not kProcesses
};

/// What has to be known of the rest of the trace at each use.
enum class Foresight : std::uint8_t {
  kNone,
  kNext,       ///< Use::next
  kProcesses,  ///< Use::processes and CacheShape::processes
};

/// The parameters of a policy as they were given, `small=10%` in `s3fifo?small=10%`.
class Parameters {
 public:
  /// text    what follows the question mark: names and values with & between them
  /// known   all parameters of the policy with their defaults, written alike
  /// errors  kArgument: a parameter that the policy does not have, or twice.
  Parameters(std::string_view policy, std::string_view text, std::string_view known);

  /// The value, as it was given or by default.
  std::string_view text(std::string_view name) const;
  /// A part of the cache in blocks, `25%` or `4MiB`: rounded down, at least one.
  /// errors  kArgument: no such amount, without a unit, zero, or more than `most` times the cache.
  Slot blocks(std::string_view name, const CacheShape& shape, std::uint32_t most = 1) const;

 private:
  struct Parameter {
    std::string name;
    std::string value;
  };
  static std::vector<Parameter> split(std::string_view policy, std::string_view text);

  std::string policy_;
  std::vector<Parameter> given_;
  std::vector<Parameter> defaults_;
};

/// A cache that does nothing but tell hits from misses.
class Counter {
 public:
  virtual ~Counter() = default;
  /// Uses blocks one after the other; hits[k] becomes 1 where the k-th was resident and 0 where it was not.
  virtual void use(std::span<const Use> uses, std::span<std::uint8_t> hits) = 0;
};

/// A policy that can be asked for.
struct PolicyKind {
  std::string_view name;
  std::string_view about;       ///< which block goes, as half a sentence
  std::string_view parameters;  ///< with their defaults, as in "in=25%&out=50%"; empty: none
  Foresight foresight = Foresight::kNone;
  std::unique_ptr<Policy> (*make)(const CacheShape& shape, const Parameters& parameters) = nullptr;
  std::unique_ptr<Counter> (*count)(const CacheShape& shape, const Parameters& parameters) = nullptr;
};

}  // namespace plait::simulation
