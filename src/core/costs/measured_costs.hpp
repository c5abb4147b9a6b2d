/// The constants of the cost model that were measured on this host, in a file.
///
/// The file is TOML of the simplest kind: lines of `name = value`, values that are numbers or texts in quotes, and
/// comments.  It has `version`, every name of plan::kCostTerms, and `host`, `processor`, `cores` and whatever else for
/// people.  `plait model calibrate` writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plan/access/costs.hpp"

namespace plait::core {

/// Identifies this host, so that constants that another host has measured are not used.
struct Machine {
  std::string host;
  std::string processor;  ///< as it calls itself; empty where that is not known
  std::int64_t cores = 0;
};
Machine this_machine();

/// The version of the constants: a file of another one says nothing about these.
inline constexpr std::int64_t kCostsVersion = 1;

/// The constants in the text of a file of that name.
/// measured_here: whether they must be those of `machine`, and not of another processor or number of cores.
/// errors  kArgument: what is wrong with the text, and where; or that the constants are of another version or machine.
plan::CostModel parse_costs(const std::string& text, const std::string& path, const Machine& machine,
                            bool measured_here);

/// The file of this host's constants: plait/model/HOST.toml in $XDG_CACHE_HOME, or in ~/.cache; empty where there is
/// neither.
std::string costs_path();

/// The constants to plan with: of the file that PLAIT_MODEL names, or else of this host's file.  Null: the built-in ones,
/// as there is no file, or PLAIT_MODEL is `builtin`.  Each file is read once in a process.
/// A file of this host that is damaged, of another version or measured on another processor counts as none, and one line
/// on the standard error says so.
/// errors  kArgument: PLAIT_MODEL names a file that cannot be read, or is damaged.
/// threads Any.
std::shared_ptr<const plan::CostModel> costs_here();

}  // namespace plait::core
