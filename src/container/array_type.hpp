/// Arrays as callers describe them.
#pragma once

#include <cstdint>
#include <string>

#include "container/container.hpp"
#include "plait/file.hpp"

namespace plait::container {

/// What the caller says that a file holds.  is_new: whether the file is to be made.
/// errors  kArgument: shape or dtype are missing, or cannot be.
ArrayType described_type(const FileOptions& options, const std::string& path, bool is_new);

/// Compares the size of a file with its array.
/// tells: whether the file said what it holds.
/// errors  kSystem: it is too short.  kArgument: it is longer, which only a file for several arrays may be.
void check_size(const Content& content, std::int64_t size, const std::string& path, const FileOptions& options,
                bool tells);

}  // namespace plait::container
