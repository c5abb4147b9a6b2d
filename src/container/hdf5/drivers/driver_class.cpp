// Registering drivers with any version of the HDF5 library.
//
// Problem: the layout of a driver's description, H5FD_class_t, depends on the version of the loaded library, which may
// differ from that of the header. With a wrong layout the library would call a wrong address.
//
// Idea: this file declares both layouts that exist, that of 1.10 and 1.12 and that of 1.14 and 2.0. Since 1.14 the
// description begins with a version, which H5FDregister() compares with the one it expects, and it has functions for
// vectors and selections. All functions that Plait sets have the same prototype in both layouts. Development versions
// between the two (1.13) have neither layout and are rejected.
//
// Example: in 1.10 the name of the driver is at offset 0 of the description, and `open` at 112. In 1.14 both are 8
// bytes further. The functions for vectors are absent in 1.10.

#include "container/hdf5/drivers/driver_class.hpp"

#include <memory>
#include <vector>

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

namespace plait::container::hdf5 {

namespace {

constexpr int kFirstNumber = 0x1f0;  // in the range that the library reserves for tests

using FreeLists = std::array<H5FD_mem_t, H5FD_MEM_NTYPES>;
/// Metadata and elements have separate lists of free space.
constexpr FreeLists kFreeLists{H5FD_MEM_SUPER, H5FD_MEM_SUPER, H5FD_MEM_SUPER, H5FD_MEM_DRAW,
                               H5FD_MEM_DRAW,  H5FD_MEM_SUPER, H5FD_MEM_SUPER};

/// The layout of H5FD_class_t until 1.12.
struct Driver110 {
  DriverFunctions functions;
  std::array<void (*)(), 4> absent{};  // functions that Plait does not set: from flush to unlock
  FreeLists free_lists = kFreeLists;
};
/// The layout of H5FD_class_t since 1.14.
struct Driver114 {
  unsigned version = 1;
  int number = kFirstNumber;
  DriverFunctions functions;
  std::array<void (*)(), 10> absent{};  // functions that Plait does not set: from read_vector to ctl
  FreeLists free_lists = kFreeLists;
};
#if H5_VERSION_GE(1, 14, 0)
static_assert(H5FD_CLASS_VERSION == 1);
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

/// The descriptions of registered drivers, which the library may refer to until the process ends.
struct Descriptions {
  std::vector<std::unique_ptr<Driver110>> old;
  std::vector<std::unique_ptr<Driver114>> recent;
};
Descriptions& descriptions() {
  static Descriptions descriptions;
  return descriptions;
}

}  // namespace

hid_t register_driver(const Library& hdf5, const DriverFunctions& functions, int number) {
  if (hdf5->H5FDregister == nullptr) return -1;
  if (hdf5.is_at_least(1, 14, 0)) {
    auto driver = std::make_unique<Driver114>();
    driver->number += number;
    driver->functions = functions;
    return hdf5->H5FDregister(descriptions().recent.emplace_back(std::move(driver)).get());
  }
  if (hdf5.is_at_least(1, 13, 0)) return -1;
  auto driver = std::make_unique<Driver110>();
  driver->functions = functions;
  return hdf5->H5FDregister(descriptions().old.emplace_back(std::move(driver)).get());
}

Handle make_driver_access(const Library& hdf5, hid_t driver) {
  Handle access(hdf5->H5Pcreate(hdf5->H5P_CLS_FILE_ACCESS_ID_g), hdf5->H5Pclose);
  if (driver < 0 || !access || hdf5->H5Pset_driver(access.id(), driver, nullptr) < 0) return {};
  return access;
}

}  // namespace plait::container::hdf5
