/// A fuzz target: a reader of traces or files, or an end of a pipe, which must satisfy its conditions for any input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::fuzz {

/// All that can be chosen: formats that are read, of traces and of files, and what comes from other ends of pipes.
std::vector<std::string> names();
/// Chooses what is run.  false: there is no such reader.
bool choose(std::string_view name);

}  // namespace plait::fuzz

/// The entry that libFuzzer and Plait's own driver call.  Ends the program where something does not hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// For libFuzzer: takes what is run, -format=NAME, from the arguments.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
