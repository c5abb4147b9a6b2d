#include "pipe/fields.hpp"

#include <cerrno>

namespace plait::pipe {

void FieldReader::fail() {
  throw Error(ErrorKind::kSystem, "a message of the other end of a pipe is cut short; use the same Plait at both ends",
              EPROTO);
}

}  // namespace plait::pipe
