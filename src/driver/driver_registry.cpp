// The list of drivers, and the choice of the driver of a name.

#include "driver/driver_registry.hpp"

#include "driver/distant/distant_driver.hpp"
#include "driver/memory/memory_driver.hpp"
#include "driver/objects/objects_driver.hpp"
#include "driver/pipe/pipe_driver.hpp"
#include "driver/plain/plain_driver.hpp"
#include "driver/stripe/stripe_driver.hpp"
#include "store/objects/object_url.hpp"

namespace plait::driver {

std::span<const Driver* const> drivers() {
  static const Driver* const kDrivers[] = {
      &plain::raw_driver(), &stripe::driver(),  &distant::driver(), &memory::driver(),
      &pipe::driver(),      &objects::driver(), &plain::driver(),
  };
  return kDrivers;
}

const Driver& find_driver(std::string_view name) {
  // `memory://BUCKET/KEY` belongs to the driver of object stores, although it begins with `memory:`. Every other prefix
  // selects its driver for all names that begin with the prefix.
  const bool is_memory_url = name.starts_with(memory::driver().prefix()) && store::is_url(name);
  for (const Driver* driver : drivers())
    if (!driver->prefix().empty() && name.starts_with(driver->prefix()) && !is_memory_url) return *driver;
  return objects::is_name(name) ? objects::driver() : plain::driver();
}

std::string_view without_prefix(std::string_view name) { return name.substr(find_driver(name).prefix().size()); }

}  // namespace plait::driver
