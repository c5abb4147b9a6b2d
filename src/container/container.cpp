#include "container/container.hpp"

#include "container/registry.hpp"

namespace plait::container {

std::string Container::refused_attribute(const std::string& path, const ArrayAttribute& /*attribute*/,
                                         bool /*of_group*/) const {
  return base::text("files such as ", path, " have no attributes");
}

}  // namespace plait::container
