/// Fields of a file that HDF5's library has written: the address of a dataset, the length of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace plait::container::hdf5 {

/// Where in the head of a new file 8 bytes say at which offset the elements of a dataset are, or the index of its chunks:
/// in the layout message, version 3, of its object header, version 1 (HDF5 File Format Specification 3.0, sections
/// IV.A.1.a and IV.A.2.i).  header: where the object header begins.
/// errors  kSystem: the library has written it otherwise.
std::int64_t find_address_field(std::span<const std::byte> head, std::int64_t header, const std::string& path);

/// Where in it the length of the file stands (section II.A, version 0).  errors  The same.
std::int64_t find_length_field(std::span<const std::byte> head, const std::string& path);

/// Puts a number of 8 bytes, the least first, at an offset.
void put_number(std::span<std::byte> head, std::int64_t at, std::uint64_t value);

}  // namespace plait::container::hdf5
