// Defaults of drivers whose stores have no files.

#include "driver/driver.hpp"

namespace plait::driver {

ResolvedName Driver::locate(const std::string& name) const {
  ResolvedName resolved;
  resolved.kind = prefix().substr(0, prefix().find(':'));
  resolved.name = name;
  resolved.file = name;
  resolved.id = name.substr(0, name.find('?'));
  return resolved;
}

}  // namespace plait::driver
