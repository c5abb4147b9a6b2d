#include "distant/stretch.hpp"

#include <string>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::distant {

void check_stretch(std::int64_t offset, std::int64_t bytes, const void* buffer) {
  if (offset < 0) base::throw_argument_error("offset ", offset, " was given; offsets begin with 0");
  if (bytes < 0) base::throw_argument_error(bytes, " bytes were asked for; pass 0 or more");
  if (bytes > 0 && buffer == nullptr) base::throw_argument_error("no buffer was given for ", bytes, " bytes");
  base::checked_add(offset, bytes, "the end of an access to a file");
}

}  // namespace plait::distant
