/// What surrounds Plait where it is a part of something that may use HDF5's library as well.
#pragma once

#include <functional>
#include <string>

namespace plait::container::hdf5 {

struct Surroundings {
  /// The path of the library to load; empty: the system's.
  std::function<std::string()> library = [] { return std::string(); };
  /// Called around each use: no thread of the library's other users may be in it meanwhile.
  std::function<void()> enter = [] {};
  std::function<void()> leave = [] {};
};
/// threads  Before the first file is opened.
void set_surroundings(Surroundings surroundings);

}  // namespace plait::container::hdf5
