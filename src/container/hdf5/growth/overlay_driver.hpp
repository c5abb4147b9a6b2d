/// The file driver through which the HDF5 library works on an Overlay.
#pragma once

#include "container/hdf5/growth/overlay.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// An Overlay that the library has open for changes.
class OverlayFile {
 public:
  /// path: the name of the file, for errors.
  /// errors  kSystem: the library does not accept the driver, or the file is damaged.
  OverlayFile(const Library& hdf5, Overlay& overlay, const std::string& path);
  hid_t id() const { return file_.id(); }
  /// Writes all changes to the overlay.  errors  kSystem.
  void close();

 private:
  const Library& hdf5_;
  std::string path_;
  Handle file_;
};

}  // namespace plait::container::hdf5
