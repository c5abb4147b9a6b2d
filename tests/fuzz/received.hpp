/// Bytes that come from others, and what must hold whatever they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

struct Received {
  std::string_view name;
  void (*run)(std::string_view bytes);
  /// Bytes that are right, to begin with.
  std::vector<std::string> (*right)();
};

/// All of them: encoded values, those of pipes, and files.
const std::vector<Received>& received();

}  // namespace plait::fuzz
