// A driver of the HDF5 library's virtual file layer for overlays.
//
// Problem: the library's own drivers allocate space at the end of the file. Chunks that are in the file already need
// the space where they are.
//
// Idea: a driver whose allocation function asks the Overlay (drivers/driver_class.hpp).
//
// Example: a file of 8 KiB has a chunk of 400 bytes at offset 4,096, which is not in the index yet. allocate_space()
// returns 4,096 for these 400 bytes, and offsets from 8,192 on for new metadata.

#include "container/hdf5/growth/overlay_driver.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>

#include "base/errors.hpp"
#include "container/hdf5/drivers/driver_class.hpp"

namespace plait::container::hdf5 {

namespace {

/// An open file of the driver. The first bytes belong to the library.
struct alignas(std::max_align_t) DriverFile {
  std::array<std::byte, kLibraryBytes> library_part{};
  Overlay* overlay = nullptr;
};

/// The overlay of the file that the driver opens next. It is global, because the library passes nothing else to open();
/// the lock of Library lets one thread at a time use it.
Overlay*& next_overlay() {
  static Overlay* next = nullptr;
  return next;
}

Overlay& get_overlay(H5FD_t* file) { return *reinterpret_cast<DriverFile*>(file)->overlay; }
const Overlay& get_overlay(const H5FD_t* file) { return *reinterpret_cast<const DriverFile*>(file)->overlay; }

H5FD_t* open_overlay(const char* /*name*/, unsigned /*flags*/, hid_t /*access*/, haddr_t /*max*/) {
  auto file = std::make_unique<DriverFile>();
  file->overlay = next_overlay();
  return reinterpret_cast<H5FD_t*>(file.release());
}
herr_t close_overlay(H5FD_t* file) {
  const std::unique_ptr<DriverFile> closed(reinterpret_cast<DriverFile*>(file));
  return 0;
}
herr_t query_overlay(const H5FD_t* /*file*/, unsigned long* flags) {
  *flags = 0;  // no aggregation: the library must allocate each chunk by a call of its own
  return 0;
}
haddr_t allocate_space(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, hsize_t bytes) {
  return static_cast<haddr_t>(get_overlay(file).allocate(static_cast<std::int64_t>(bytes), type == H5FD_MEM_DRAW));
}
/// Leaves the space unused: a program that has opened the file before may still read it.
herr_t free_space(H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t /*at*/, hsize_t /*bytes*/) {
  return 0;
}
/// Returns the end of the allocated space, which HDF5 calls EOA.
haddr_t end_of_space(const H5FD_t* file, H5FD_mem_t /*type*/) { return static_cast<haddr_t>(get_overlay(file).end()); }
herr_t set_end_of_space(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  get_overlay(file).set_end(static_cast<std::int64_t>(end));
  return 0;
}
/// Returns the size of the file, which HDF5 calls EOF.
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return static_cast<haddr_t>(std::max(get_overlay(file).changed_size(), get_overlay(file).end()));
}
herr_t read_overlay(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t at, std::size_t bytes, void* into) {
  try {
    get_overlay(file).read(static_cast<std::int64_t>(at), {static_cast<std::byte*>(into), bytes});
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}
herr_t write_overlay(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, haddr_t at, std::size_t bytes,
                     const void* from) {
  Overlay& overlay = get_overlay(file);
  const auto offset = static_cast<std::int64_t>(at);
  if (type == H5FD_MEM_DRAW && overlay.is_in_directed_space(offset)) return 0;
  try {
    overlay.write(offset, {static_cast<const std::byte*>(from), bytes});
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

DriverFunctions driver_functions() {
  DriverFunctions functions;
  functions.name = "plait_overlay";
  functions.open = open_overlay;
  functions.close = close_overlay;
  functions.query = query_overlay;
  functions.allocate = allocate_space;
  functions.free = free_space;
  functions.end_of_space = end_of_space;
  functions.set_end_of_space = set_end_of_space;
  functions.end_of_file = end_of_file;
  functions.read = read_overlay;
  functions.write = write_overlay;
  return functions;
}

/// Returns the library's identifier of the driver, which the first call registers; negative if the library does not
/// accept it.
hid_t overlay_driver(const Library& hdf5) {
  static const hid_t kDriver = register_driver(hdf5, driver_functions(), /*number=*/0);
  return kDriver;
}

}  // namespace

OverlayFile::OverlayFile(const Library& hdf5, Overlay& overlay, const std::string& path) : hdf5_(hdf5), path_(path) {
  const Handle access = make_driver_access(hdf5, overlay_driver(hdf5));
  next_overlay() = &overlay;
  // The library requires a name, which must not be that of an existing file.
  if (access) file_ = Handle(hdf5->H5Fopen((path + "/overlay").c_str(), kReadWrite, access.id()), hdf5->H5Fclose);
  if (!file_)
    base::throw_system_error(EIO, path, " cannot be opened for changes by ", hdf5.describe(), hdf5.last_error());
}

void OverlayFile::close() {
  if (file_.close_now() < 0)
    base::throw_system_error(EIO, path_, " cannot be changed by ", hdf5_.describe(), hdf5_.last_error());
}

}  // namespace plait::container::hdf5
