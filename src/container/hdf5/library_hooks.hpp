/// Hooks for a process in which other code uses the HDF5 library as well, such as h5py.
#pragma once

#include <functional>
#include <string>

namespace plait::container::hdf5 {

/// The hooks. Their defaults are for a process in which only Plait uses the library.
struct LibraryHooks {
  /// Returns the path of the library to load; an empty path selects the system's library.
  std::function<std::string()> library = [] { return std::string(); };
  /// Returns a folder of plug-ins for filters that the library does not have; empty if there is none. HDF5_PLUGIN_PATH
  /// takes precedence.
  std::function<std::string()> plugins = [] { return std::string(); };
  /// Called before each use of the library. While Plait uses it no other thread may call it.
  std::function<void()> enter = [] {};
  /// Called after each use of the library.
  std::function<void()> leave = [] {};
};
/// Sets the hooks.  threads  Must be called before the first file is opened.
void set_library_hooks(LibraryHooks hooks);

}  // namespace plait::container::hdf5
