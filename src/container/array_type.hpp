/// Array types from the options that callers pass to open(), and checks of existing arrays against these options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "container/content.hpp"
#include "plait/file_options.hpp"

namespace plait::container {

/// Returns the type that the options of the caller state. path: the name of the file in errors. is_new: true for a file
/// to be created, false for an existing one that does not describe its array.
/// errors  kArgument: shape or dtype are missing or impossible.
ArrayType make_array_type(const FileOptions& options, const std::string& path, bool is_new);

/// Returns the number of bytes of all elements of an array; nothing if it exceeds 2^63 - 1, or an extent is negative.
std::optional<std::int64_t> array_bytes(const Extents& shape, std::int64_t element_bytes);

/// Compares the options of the caller with an array that its file describes.
/// errors  kArgument: the array has another shape, order or element type, or an option applies to raw files only.
void check_options(const Content& found, const std::string& path, const FileOptions& options);

/// Compares the size of a file with the size that its array needs. is_stated: true if the file itself states the type
/// of its array.
/// errors  kSystem: the file is too short. kArgument: it is longer, and is not opened for several arrays.
void check_size(const Content& content, std::int64_t size, const std::string& path, const FileOptions& options,
                bool is_stated);

}  // namespace plait::container
