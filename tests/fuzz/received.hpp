/// The kinds of bytes that come from other programs and processes, each with a test that must hold for any bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

struct MessageKind {
  std::string_view name;
  /// Reads the bytes; aborts if a condition does not hold.
  std::function<void(std::string_view bytes)> run;
  /// Returns valid inputs, with which fuzzing begins.
  std::function<std::vector<std::string>()> valid_inputs;
};

/// Returns all kinds that a fuzzing program tests; each program defines this function.
const std::vector<MessageKind>& received();

}  // namespace plait::fuzz
