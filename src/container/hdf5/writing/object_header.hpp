/// Finds metadata fields in a file that the HDF5 library has written: the address of a dataset, the length of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plait::container::hdf5 {

/// Returns the offset of the 8 bytes in the head of a new file that hold the address of the elements of a dataset, or
/// of the index of its chunks. They are in the layout message, version 3, of its object header, version 1 (HDF5 File
/// Format Specification 3.0, sections IV.A.1.a and IV.A.2.i). header: the offset of the object header.
/// errors  kSystem: the library has written another version.
std::int64_t find_address_field(std::span<const std::byte> head, std::int64_t header, const std::string& path);

/// Returns the element in the fill value message, version 2, of an array of texts. It refers to a text in the heap.
/// errors  Those of find_address_field().
std::vector<std::byte> find_fill(std::span<const std::byte> head, std::int64_t header, const std::string& path);

/// Returns the offset of the 8 bytes that state the length of the file (section II.A, version 0).
/// errors  Those of find_address_field().
std::int64_t find_length_field(std::span<const std::byte> head, const std::string& path);

/// Writes a little-endian number of 8 bytes at an offset.
void put_number(std::span<std::byte> head, std::int64_t at, std::uint64_t value);

}  // namespace plait::container::hdf5
