/// Identities of files: values that distinguish a file from others that had or will have its name.
#pragma once

#include <cstdint>

#include "base/encoding/traits.hpp"

namespace plait::store {

/// The identity of a file. It is the same on all hosts that see the file. It therefore lacks the device, whose number
/// each host assigns to a network file system itself.
struct Identity {
  std::uint64_t number = 0;  ///< inode number; 0 if each host numbers files by itself
  std::int64_t born = 0;     ///< ns since 1970; 0 if the file system does not record it
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
inline bool same_file(const Identity& one, const Identity& other) {
  if (one.number != other.number) return false;
  if (one.born != 0 && other.born != 0) return one.born == other.born;
  return one.bytes == other.bytes && one.changed == other.changed;
}

/// Returns true if two identities may belong to one file that was written in between. Two files differ in the inode
/// number, which is not reused as long as one is open, or in the creation time, if the file systems record it.
inline bool may_be_same_file(const Identity& one, const Identity& other) {
  return one.number == other.number && (one.born == 0 || other.born == 0 || one.born == other.born);
}

}  // namespace plait::store
