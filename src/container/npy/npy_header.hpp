/// The header of .npy files (NumPy's NEP 1): magic, version, and a Python dictionary with descr, fortran_order and
/// shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plait/layout.hpp"
#include "store/store.hpp"

namespace plait::container::npy {

struct Header {
  /// The dtype in UTF-8, spelled as in the file: `<f8` for simple types, the text of a list for structured ones.
  std::string descr;
  std::int64_t element_bytes = 0;
  Order order = Order::kC;
  Extents shape;
  std::int64_t data_offset = 0;  ///< the length of the header
};

/// Number of bytes at the beginning of a file that contain the magic, the version and the length of the dictionary: 12
/// from version 2 on, of which version 1 uses 10.
inline constexpr std::size_t kPreambleBytes = 12;
/// Returns the length of the whole header, preamble included. preamble: the first kPreambleBytes of the file, or all if
/// it is shorter.
/// errors  kSystem: `path` is not a .npy file, or has an unknown version.
std::int64_t header_bytes(std::span<const std::byte> preamble, const std::string& path);

/// Parses a whole header.  errors  kSystem: it is damaged.  kArgument: its dtype has elements without a fixed size.
Header parse_header(std::span<const std::byte> bytes, const std::string& path);

/// Makes the bytes before the data, padded to a multiple of 64. Like NumPy it uses the first version that can represent
/// the header: 1, 2 for long headers, 3 for names that are not in Latin-1.
/// errors  kArgument: a descr is not UTF-8.
std::vector<std::byte> make_header(const std::string& descr, Order order, const Extents& shape);

/// Reads the header of a file.  errors  Those of parse_header(); kSystem: the file is truncated.
/// first: the first bytes of the file, if they have been read.
Header read_header(store::Store& store, const std::string& path, std::span<const std::byte> first = {});

/// Returns the present header of a file with another shape instead of its own, and with the same number of bytes.
/// errors  kArgument: the text of the shape needs more bytes.  Those of read_header().
std::vector<std::byte> resized_header(store::Store& store, const std::string& path, const Extents& shape);

/// Returns true if two dtypes in the notation of descr have the same meaning, regardless of their spelling.
bool same_descr(const std::string& left, const std::string& right);

/// Returns the number of bytes of an element of a dtype, simple or structured.
/// errors  kArgument: the size is not fixed, or is 0.
std::int64_t dtype_bytes(const std::string& descr);

}  // namespace plait::container::npy
