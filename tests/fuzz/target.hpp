/// A fuzz target: code that reads traces, files or messages, and must satisfy certain conditions for any input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

/// Returns the names of all readers, each for a format of traces or files, or for a kind of message.
std::vector<std::string> names();
/// Selects the reader to run; returns false if there is none of this name.
bool choose(std::string_view name);

}  // namespace plait::fuzz

/// The entry that libFuzzer and Plait's own driver call.  Aborts the program if a condition does not hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// Called by libFuzzer: selects the reader that the argument -format=NAME names.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
