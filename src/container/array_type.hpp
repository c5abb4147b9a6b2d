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

/// Compares the options of the caller with an array that its file describes.
/// errors  kArgument: another shape, order or type of elements, or what only raw files have.
void check_options(const Content& found, const std::string& path, const FileOptions& options);

/// Compares the size of a file with its array.
/// is_stated: whether the file states the type of its array.
/// errors  kSystem: it is too short.  kArgument: it is longer, which only a file for several arrays may be.
void check_size(const Content& content, std::int64_t size, const std::string& path, const FileOptions& options,
                bool is_stated);

}  // namespace plait::container
