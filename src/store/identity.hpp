/// Identities of files: values that distinguish a file from others that had or will have its name.
#pragma once

#include <cstdint>

#include "base/encoding/traits.hpp"

namespace plait::store {

/// The identity of a file. It is the same on all hosts that see the file. Therefore it has no device number, because
/// each host assigns its own to a network file system.
struct Identity {
  std::uint64_t number = 0;  ///< inode number; 0 if each host numbers files by itself
  std::int64_t born = 0;     ///< creation time in ns since 1970; 0 if the file system does not record it
  std::int64_t bytes = 0;
  std::int64_t changed = 0;  ///< time of the last change of the content in ns since 1970
  bool operator==(const Identity&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Identity>& identity) {
  codec(identity.number, identity.born, identity.bytes, identity.changed);
}

/// Returns true if two identities belong to one file. A file that is written in place stays the same file if the file
/// system records creation times; otherwise its size and its time of change must be equal.
inline bool same_file(const Identity& first, const Identity& second) {
  if (first.number != second.number) return false;
  if (first.born != 0 && second.born != 0) return first.born == second.born;
  return first.bytes == second.bytes && first.changed == second.changed;
}

/// Returns true if two identities, read at different times, may belong to one file that was written in between. Two
/// files differ in the inode number, which is not reused as long as the file is open, or in the creation time, if the
/// file system records it.
inline bool may_be_same_file(const Identity& first, const Identity& second) {
  return first.number == second.number && (first.born == 0 || second.born == 0 || first.born == second.born);
}

}  // namespace plait::store
