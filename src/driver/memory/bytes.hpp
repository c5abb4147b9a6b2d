/// Bytes that the ranks of a node share, and the names that this process knows some by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collective/collective.hpp"
#include "transport/shared_area.hpp"

namespace plait::driver::memory {

/// One rank's view of them.
struct SharedBytes {
  std::unique_ptr<transport::SharedPart> part;  ///< keeps the memory; on the first rank it is the bytes
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t number = 0;  ///< of these bytes, different from all others of the machine
};

/// New bytes, all zero.  Collective.  `shown` is the name for errors.
/// errors  kArgument: ranks of several nodes.  kSystem: not enough memory.
std::shared_ptr<SharedBytes> make_bytes(collective::Collective& call, std::int64_t bytes, const std::string& shown);

/// Those that this process knows by a name; nullptr: none.  threads  Any.
std::shared_ptr<SharedBytes> find_bytes(const std::string& name);
/// Gives them a name, which other ones lose.  threads  Any.  errors  std::bad_alloc.
void name_bytes(const std::string& name, std::shared_ptr<SharedBytes> bytes);

}  // namespace plait::driver::memory
