/// What is run on bytes of the other end of a pipe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

/// Bytes that a process receives of another one, and what must hold whatever they are.
struct Received {
  std::string_view name;
  void (*run)(std::string_view bytes);
  /// Bytes that are right, to begin with.
  std::vector<std::string> (*right)();
};

/// `pipe-hello`: what a stranger sends; `pipe-frames`: what a reader sends to a process of the writer; `pipe-answers`:
/// what that answers.
const std::vector<Received>& received();

}  // namespace plait::fuzz
