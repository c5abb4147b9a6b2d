#include "container/format.hpp"

#include "base/text.hpp"

namespace plait::container {

base::Rejection Format::attribute_rejection(const std::string& name, const ArrayAttribute& /*attribute*/,
                                            bool /*of_group*/) const {
  return base::Rejection::because("files such as ", name, " have no attributes");
}

}  // namespace plait::container
