/// Bytes that the ranks of a node share, and their names in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "collective/collective.hpp"
#include "transport/shared_area.hpp"

namespace plait::driver::memory {

/// One rank's view of shared bytes.
struct SharedBytes {
  std::unique_ptr<transport::SharedPart> part;  ///< owns the memory; the part of rank 0 has all bytes
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t id = 0;  ///< number that distinguishes these bytes from all others on the machine
};

/// Creates new bytes, which are zero. Collective. display_name: the name in errors.
/// errors  kArgument: the ranks are on several nodes. kSystem: not enough memory.
std::shared_ptr<SharedBytes> make_bytes(collective::Collective& call, std::int64_t bytes,
                                        const std::string& display_name);

/// Returns the bytes of that name in this process; nullptr if there are none.  threads  Any.
std::shared_ptr<SharedBytes> find_bytes(const std::string& name);
/// Makes the name refer to these bytes, instead of to others that had it.  threads  Any.  errors  std::bad_alloc.
void name_bytes(const std::string& name, std::shared_ptr<SharedBytes> bytes);

}  // namespace plait::driver::memory
