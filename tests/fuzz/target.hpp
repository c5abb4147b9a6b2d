/// The fuzz target: code that reads traces, files or messages, and must satisfy certain conditions for any input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

/// Returns the names of all kinds: formats of traces and files, and kinds of messages.
std::vector<std::string> names();
/// Selects the kind whose function runs; returns false if there is none of this name.
bool select_kind(std::string_view name);

}  // namespace plait::fuzz

/// The entry that libFuzzer and Plait's own driver call.  Aborts the program if a condition does not hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// Called by libFuzzer: selects the kind that the argument -format=NAME names.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
