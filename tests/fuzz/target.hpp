/// What is run on each input: one reader of traces, and what must hold whatever the bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plait::fuzz {

/// Chooses the format whose reader is run.  false: no such format, or it is not read.
bool choose(std::string_view format);

}  // namespace plait::fuzz

/// The entry that libFuzzer and Plait's own driver call.  Ends the program where something does not hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// For libFuzzer: takes -format=NAME from the arguments.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
