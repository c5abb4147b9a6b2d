/// Arrays as callers describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "container/content.hpp"
#include "plait/file_options.hpp"

namespace plait::container {

/// What the caller says that a file holds.  is_new: whether the file is to be made.
/// errors  kArgument: shape or dtype are missing, or cannot be.
ArrayType described_type(const FileOptions& options, const std::string& path, bool is_new);

/// Bytes of the elements of an array; nothing where they are more than 2^63 - 1, or a size is negative.
std::optional<std::int64_t> bytes_of(const Extents& shape, std::int64_t element_bytes);

/// Compares what the caller says with what a file of a format that tells holds.
/// errors  kArgument: another shape, order or type of elements, or what only raw files have.
void check_told(const Content& found, const std::string& path, const FileOptions& options);

/// Compares the size of a file with its array.
/// tells: whether the file said what it holds.
/// errors  kSystem: it is too short.  kArgument: it is longer, which only a file for several arrays may be.
void check_size(const Content& content, std::int64_t size, const std::string& path, const FileOptions& options,
                bool tells);

}  // namespace plait::container
