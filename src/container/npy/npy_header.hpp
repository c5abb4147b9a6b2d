/// The header of .npy files (NumPy's NEP 1): magic, version, and a Python dictionary with descr, fortran_order and
/// shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plait/layout.hpp"

namespace plait::container::npy {

struct Header {
  /// As in the file, in UTF-8: `<f8` for simple types, the list's text for structured ones.
  std::string descr;
  std::int64_t element_bytes = 0;
  Order order = Order::kC;
  Extents shape;
  std::int64_t data_offset = 0;
};

/// Bytes at the beginning of a file that state how long its header is; pass what there is of the file's first bytes.
inline constexpr std::size_t kPreambleBytes = 12;
/// errors  kSystem: `path` is not a .npy file, or of a version that is not known.
std::int64_t header_bytes(std::span<const std::byte> preamble, const std::string& path);

/// Reads a whole header.  errors  kSystem: damaged; kArgument: elements that are Python objects.
Header parse_header(std::span<const std::byte> bytes, const std::string& path);

/// The bytes before the data: padded to a multiple of 64, and of the first version that can hold them, as NumPy
/// does: 1, 2 where the header is long, 3 where a name is not Latin-1.
/// errors  kArgument: a descr that is no UTF-8.
std::vector<std::byte> make_header(const std::string& descr, Order order, const Extents& shape);

/// Whether two descrs say the same, however they are spelt.
bool same_descr(const std::string& one, const std::string& other);

/// Bytes of an element of a descr, simple or structured.  errors  kArgument: not a type with a fixed size.
std::int64_t element_bytes_of(const std::string& descr);

}  // namespace plait::container::npy
