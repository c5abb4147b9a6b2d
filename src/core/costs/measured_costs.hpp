/// The cost model's constants that were measured on this host, in a file.
///
/// The file is TOML of the simplest kind: lines of `name = value`, with numbers or texts in quotes as values, and
/// comments.  It has `version`, every name of plan::kCostTerms, and `host`, `processor`, `cores` and other lines for
/// people.  `plait model calibrate` writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plan/access/costs.hpp"

namespace plait::core {

/// The identity of this host, so that constants measured on another host are not used.
struct Machine {
  std::string host;
  std::string processor;  ///< as the processor reports it; empty if unknown
  std::int64_t cores = 0;
};
/// Returns the identity of this host.
Machine this_machine();

/// The version of the constants.  Files of other versions are not used.
inline constexpr std::int64_t kCostsVersion = 2;

/// Parses the constants in the text of a file named `path`.
/// must_match_machine: true if they must have been measured with the processor and the number of cores of `machine`.
/// errors  kArgument: an error in the text, with its line; constants of another version or machine.
plan::CostModel parse_costs(const std::string& text, const std::string& path, const Machine& machine,
                            bool must_match_machine);

/// Returns the file of this host's constants: plait/model/HOST.toml in $XDG_CACHE_HOME, or in ~/.cache; empty if there
/// is neither.
std::string costs_path();

/// Returns the constants for planning: those of the file that PLAIT_MODEL names, or else of this host's file.  Null
/// stands for the built-in ones: there is no file, or PLAIT_MODEL is `builtin`.  Each file is read once in a process.
/// A file of this host that is damaged, of another version or measured on another processor is ignored, with a warning
/// in one line on the standard error.
/// errors  kArgument: PLAIT_MODEL names a file that cannot be read, or is damaged.
/// threads  Any.
std::shared_ptr<const plan::CostModel> costs_here();

}  // namespace plait::core
