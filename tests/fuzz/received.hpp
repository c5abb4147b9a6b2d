/// Kinds of bytes that come from other programs and processes, each with a function that must handle any bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

/// A format of files, or a kind of message.
struct MessageKind {
  std::string_view name;
  /// Reads the bytes as the library does. Aborts if a condition does not hold; an error of the library is no failure.
  std::function<void(std::string_view bytes)> run;
  /// Returns valid inputs, with which fuzzing begins.
  std::function<std::vector<std::string>()> valid_inputs;
};

/// Returns all kinds that a fuzzing program tests; each program defines this function.
const std::vector<MessageKind>& message_kinds();

}  // namespace plait::fuzz
