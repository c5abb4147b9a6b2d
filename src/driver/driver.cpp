#include "driver/driver.hpp"

namespace plait::driver {

ResolvedName Driver::locate(const std::string& name) const {
  ResolvedName found;
  found.kind = prefix().substr(0, prefix().find(':'));
  found.name = name;
  found.file = name;
  found.id = name.substr(0, name.find('?'));
  return found;
}

}  // namespace plait::driver
