#include "driver/registry.hpp"

#include "driver/distant/driver.hpp"
#include "driver/memory/driver.hpp"
#include "driver/pipe/driver.hpp"
#include "driver/plain/driver.hpp"
#include "driver/stripe/driver.hpp"

namespace plait::driver {

std::span<const Driver* const> drivers() {
  static const Driver* const kDrivers[] = {
      &plain::raw_driver(), &stripe::driver(), &distant::driver(), &memory::driver(), &pipe::driver(), &plain::driver(),
  };
  return kDrivers;
}

const Driver& driver_of(std::string_view name) {
  for (const Driver* driver : drivers())
    if (name.starts_with(driver->prefix())) return *driver;
  return *drivers().back();
}

std::string_view without_prefix(std::string_view name) { return name.substr(driver_of(name).prefix().size()); }

}  // namespace plait::driver
