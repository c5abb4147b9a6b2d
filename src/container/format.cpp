#include "container/format.hpp"

#include "base/text.hpp"

namespace plait::container {

std::string Format::rejected_attribute(const std::string& name, const ArrayAttribute& /*attribute*/,
                                       bool /*of_group*/) const {
  return base::text("files such as ", name, " have no attributes");
}

}  // namespace plait::container
