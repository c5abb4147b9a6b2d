// A driver of the HDF5 library's virtual file layer.
//
// Problem: the library's own drivers allocate space at the end of the file. The space of chunks that are in the file
// already must be chosen by the caller.
//
// Idea: a driver with an allocation function. The layout of the driver's description depends on the version of the
// library, which is not that of the header: since 1.14 it begins with a version, and has functions for vectors and
// selections. All functions that Plait sets have the same prototype in both.
//
// Example: in 1.10 the name of the driver is at offset 0 of the description, and `open` at 112. In 1.14 both are 8
// bytes further. The functions for vectors are absent in 1.10.

#include "container/hdf5/growth/overlay_driver.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>

#include "base/errors.hpp"
#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

namespace plait::container::hdf5 {

namespace {

constexpr const char* kDriver = "plait_overlay";
constexpr int kDriverNumber = 0x1f0;  // in the range that the library reserves for tests
constexpr haddr_t kMaxAddress = (haddr_t{1} << 62U) - 1;
constexpr std::size_t kLibraryBytes = 512;  // more than any version of H5FD_t has

/// The functions of a driver that all versions have, from the name to write().
struct DriverFunctions {
  const char* name = kDriver;
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

using FreeLists = std::array<H5FD_mem_t, H5FD_MEM_NTYPES>;
/// Metadata and elements have separate lists of free space.
constexpr FreeLists kFreeLists{H5FD_MEM_SUPER, H5FD_MEM_SUPER, H5FD_MEM_SUPER, H5FD_MEM_DRAW,
                               H5FD_MEM_DRAW,  H5FD_MEM_SUPER, H5FD_MEM_SUPER};

/// H5FD_class_t until 1.12.
struct Driver110 {
  DriverFunctions functions;
  std::array<void (*)(), 4> absent{};  // flush to unlock
  FreeLists free_lists = kFreeLists;
};
/// H5FD_class_t since 1.14.
struct Driver114 {
  unsigned version = 1;
  int number = kDriverNumber;
  DriverFunctions functions;
  std::array<void (*)(), 10> absent{};  // read_vector to ctl
  FreeLists free_lists = kFreeLists;
};
#if H5_VERSION_GE(1, 14, 0)
static_assert(sizeof(Driver114) == sizeof(H5FD_class_t) &&
              offsetof(Driver114, free_lists) == offsetof(H5FD_class_t, fl_map));
#else
static_assert(sizeof(Driver110) == sizeof(H5FD_class_t));
static_assert(offsetof(Driver110, free_lists) == offsetof(H5FD_class_t, fl_map));
static_assert(offsetof(DriverFunctions, open) == offsetof(H5FD_class_t, open));
static_assert(offsetof(DriverFunctions, allocate) == offsetof(H5FD_class_t, alloc));
static_assert(offsetof(DriverFunctions, write) == offsetof(H5FD_class_t, write));
#endif
static_assert(sizeof(H5FD_t) <= kLibraryBytes);

/// An open file of the driver. The library uses the first bytes.
struct alignas(std::max_align_t) DriverFile {
  std::array<std::byte, kLibraryBytes> of_library{};
  Overlay* overlay = nullptr;
};

/// The overlay that the next file of the driver has. It is global, because the library passes nothing else to open();
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
  *flags = 0;  // the library must not allocate several chunks at once
  return 0;
}
haddr_t allocate_space(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, hsize_t bytes) {
  return static_cast<haddr_t>(get_overlay(file).allocate(static_cast<std::int64_t>(bytes), type == H5FD_MEM_DRAW));
}
/// Leaves the space unused: a program that has opened the file before may still read it.
herr_t free_space(H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t /*at*/, hsize_t /*bytes*/) {
  return 0;
}
haddr_t end_of_space(const H5FD_t* file, H5FD_mem_t /*type*/) { return static_cast<haddr_t>(get_overlay(file).end()); }
herr_t set_end_of_space(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  get_overlay(file).set_end(static_cast<std::int64_t>(end));
  return 0;
}
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
  if (type == H5FD_MEM_DRAW && overlay.is_directed(offset)) return 0;
  try {
    overlay.write(offset, {static_cast<const std::byte*>(from), bytes});
  } catch (const std::exception&) {
    return -1;
  }
  return 0;
}

DriverFunctions driver_functions() {
  DriverFunctions functions;
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

/// Returns the library's number of the driver; negative if the library does not accept it.
hid_t register_driver(const Library& hdf5) {
  static const Driver110 kOld{.functions = driver_functions()};
  static const Driver114 kNew{.functions = driver_functions()};
  const void* const driver = hdf5.at_least(1, 14, 0) ? static_cast<const void*>(&kNew) : &kOld;
  static const hid_t kNumber = hdf5->H5FDregister == nullptr ? -1 : hdf5->H5FDregister(driver);
  return kNumber;
}

}  // namespace

OverlayFile::OverlayFile(const Library& hdf5, Overlay& overlay, const std::string& path) : hdf5_(hdf5), path_(path) {
  const hid_t driver = register_driver(hdf5);
  const Handle access(hdf5->H5Pcreate(hdf5->H5P_CLS_FILE_ACCESS_ID_g), hdf5->H5Pclose);
  next_overlay() = &overlay;
  // The name must be one that no file has.
  if (driver >= 0 && access && hdf5->H5Pset_driver(access.id(), driver, nullptr) >= 0)
    file_ = Handle(hdf5->H5Fopen((path + "/overlay").c_str(), kReadWrite, access.id()), hdf5->H5Fclose);
  if (!file_) base::throw_system_error(EIO, path, " cannot be opened for changes by ", hdf5.describe(), hdf5.why());
}

void OverlayFile::close() {
  if (file_.close_now() < 0)
    base::throw_system_error(EIO, path_, " cannot be changed by ", hdf5_.describe(), hdf5_.why());
}

}  // namespace plait::container::hdf5
