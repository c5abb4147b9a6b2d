/// What tells one file from another that has, had or will have its name.
#pragma once

#include <cstdint>
#include <string>

#include "base/encoding/traits.hpp"

namespace plait::store::posix {

/// Means the same on all hosts that see the file: so not the device, whose number each host chooses for itself where a
/// file system comes over the network.
struct Identity {
  std::uint64_t number = 0;  ///< of the inode; 0 where each host numbers files by itself
  std::int64_t born = 0;     ///< ns since 1970; 0 where the file system does not tell
  std::int64_t bytes = 0;
  std::int64_t changed = 0;  ///< ns since 1970, of its content
  bool operator==(const Identity&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Identity>& identity) {
  codec(identity.number, identity.born, identity.bytes, identity.changed);
}

/// errors  kSystem: names `shown`.
Identity identity_of(int file, const std::string& shown);

/// Whether two looks were at one file.  One that is being written in place stays the same file where file systems tell
/// when files were made; elsewhere its size and its time of change have to be equal.
bool same_file(const Identity& one, const Identity& other);
/// Whether they may have been at one file that has been written in between: what tells two apart is the number, which no
/// other file gets as long as this one is open, and the time of creation, as far as the file system tells them.
bool may_be_same_file(const Identity& one, const Identity& other);

/// errors  kSystem, ESTALE: an open file is another one than `expected`, which had the name `shown` before.
void check_not_replaced(int file, const Identity& expected, const std::string& shown);

}  // namespace plait::store::posix
