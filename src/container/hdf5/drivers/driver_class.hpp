/// File drivers for the HDF5 library: through a driver the library opens, reads and writes a file by functions of
/// Plait.
#pragma once

#include <array>
#include <cstddef>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// Size of the library's part at the beginning of each open file of a driver: more than any version of H5FD_t has.
inline constexpr std::size_t kLibraryBytes = 512;
inline constexpr haddr_t kMaxAddress = (haddr_t{1} << 62U) - 1;

/// The functions of a driver that all versions of H5FD_class_t have, from the name to write(). Those that Plait does
/// not set have no prototype here.
struct DriverFunctions {
  const char* name = nullptr;
  haddr_t max_address = kMaxAddress;
  H5F_close_degree_t close_degree = H5F_CLOSE_WEAK;
  void (*terminate)() = nullptr;
  std::array<void (*)(), 3> superblock{};
  std::size_t access_bytes = 0;
  std::array<void (*)(), 3> access{};
  std::size_t transfer_bytes = 0;
  std::array<void (*)(), 2> transfer{};
  H5FD_t* (*open)(const char*, unsigned, hid_t, haddr_t) = nullptr;
  herr_t (*close)(H5FD_t*) = nullptr;
  void (*compare)() = nullptr;
  herr_t (*query)(const H5FD_t*, unsigned long*) = nullptr;
  void (*type_map)() = nullptr;
  haddr_t (*allocate)(H5FD_t*, H5FD_mem_t, hid_t, hsize_t) = nullptr;
  herr_t (*free)(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, hsize_t) = nullptr;
  haddr_t (*end_of_space)(const H5FD_t*, H5FD_mem_t) = nullptr;
  herr_t (*set_end_of_space)(H5FD_t*, H5FD_mem_t, haddr_t) = nullptr;
  haddr_t (*end_of_file)(const H5FD_t*, H5FD_mem_t) = nullptr;
  void (*handle)() = nullptr;
  herr_t (*read)(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, void*) = nullptr;
  herr_t (*write)(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) = nullptr;
};

/// Registers a driver. Returns the library's identifier of it; negative if the library has a layout of H5FD_class_t
/// that Plait does not know, or does not accept the driver.
/// number: 0, 1, ...; another one for each driver of Plait.
hid_t register_driver(const Library& hdf5, const DriverFunctions& functions, int number);

/// Returns file access properties with a driver; empty if the library fails. driver: the result of register_driver().
Handle make_driver_access(const Library& hdf5, hid_t driver);

}  // namespace plait::container::hdf5
