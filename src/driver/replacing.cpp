#include "driver/replacing.hpp"

#include <memory>
#include <vector>

#include "driver/driver_registry.hpp"

namespace plait::driver {

namespace {

std::vector<const FileDriver*> file_drivers() {
  std::vector<const FileDriver*> result;
  for (const Driver* driver : drivers())
    if (const auto* files = dynamic_cast<const FileDriver*>(driver)) result.push_back(files);
  return result;
}

}  // namespace

bool clear(const std::string& leftover, const std::string& target) noexcept {
  try {
    bool result = true;
    for (const FileDriver* driver : file_drivers()) result = driver->clear(leftover, target) && result;
    return result;
  } catch (...) {
    return false;  // the next new file tries again
  }
}

void commit(store::posix::Replacement& file) {
  std::vector<std::unique_ptr<FileDriver::ReplacementCleanup>> replaced;
  for (const FileDriver* driver : file_drivers())
    if (auto old = driver->replacing(file)) replaced.push_back(std::move(old));
  const auto remove = [&] {
    for (const auto& old : replaced) old->remove();
  };
  try {
    file.commit();
  } catch (...) {
    if (file.in_position()) remove();
    throw;
  }
  remove();
}

}  // namespace plait::driver
