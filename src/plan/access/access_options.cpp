#include "plan/access/access_options.hpp"

namespace plait::plan {

const char* to_string(Strategy strategy) {
  switch (strategy) {
    case Strategy::kDirect: return "direct";
    case Strategy::kTwoPhase: return "two-phase";
    case Strategy::kAutomatic: break;
  }
  return "automatic";
}

}  // namespace plait::plan
