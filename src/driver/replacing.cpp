// Removes the files of stores that are replaced. Any driver's store may be replaced by any other driver's file: a new
// `a.npy` may replace the description of the striped file `a`, whose component files then belong to nothing.

#include "driver/replacing.hpp"

#include <memory>
#include <vector>

#include "driver/driver_registry.hpp"

namespace plait::driver {

namespace {

std::vector<const FileDriver*> file_drivers() {
  std::vector<const FileDriver*> result;
  for (const Driver* driver : drivers())
    if (const auto* file_driver = dynamic_cast<const FileDriver*>(driver)) result.push_back(file_driver);
  return result;
}

}  // namespace

bool release_leftover(const std::string& leftover, const std::string& target) noexcept {
  try {
    bool may_remove = true;
    for (const FileDriver* driver : file_drivers())
      may_remove = driver->release_leftover(leftover, target) && may_remove;
    return may_remove;
  } catch (...) {
    return false;  // the next new file tries again
  }
}

void commit(store::posix::Replacement& file) {
  std::vector<std::unique_ptr<FileDriver::ReplacementCleanup>> cleanups;
  for (const FileDriver* driver : file_drivers())
    if (auto cleanup = driver->prepare_cleanup(file)) cleanups.push_back(std::move(cleanup));
  const auto remove_replaced_files = [&] {
    for (const auto& cleanup : cleanups) cleanup->remove();
  };
  try {
    file.commit();
  } catch (...) {
    if (file.in_position()) remove_replaced_files();  // it has replaced the old file before the error
    throw;
  }
  remove_replaced_files();
}

}  // namespace plait::driver
