/// Bytes that come from others, and what must hold whatever they are.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

struct MessageKind {
  std::string_view name;
  std::function<void(std::string_view bytes)> run;
  /// Bytes that are right, to begin with.
  std::function<std::vector<std::string>()> right;
};

/// All that a program of fuzzing runs; each program defines it.
const std::vector<MessageKind>& received();

}  // namespace plait::fuzz
