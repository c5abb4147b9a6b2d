/// The requests for distant files that ranks send to each other, as calls of active messages.
#pragma once

#include <cstdint>
#include <cstring>

#include "transport/active_messages.hpp"

namespace plait::distant {

enum class RequestKind : std::int32_t {
  kRead,
  kReadPart,  ///< bytes after the end of the file are zero
  kWrite,
  kSync,
  kSize,      ///< the answer has 8 bytes
  kResize,    ///< sets the size to `bytes`
  kLocate,    ///< the answer is a FileLocation
  kRegister,  ///< the payload is a name, for file `file` of rank `offset`; the answer is an Entry, of the current owner
  kFind,      ///< the payload is a name; the answer is an Entry
  kForget,    ///< the payload is a name, of file `file` of rank `offset`
};

/// The head of a request; in requests for names, `file` and `offset` are the file and the rank of an Entry.
struct Head {
  RequestKind kind = RequestKind::kRead;
  std::int64_t file = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};
static_assert(sizeof(Head) <= transport::kCallHeadBytes);

/// The file to which a name refers.
struct Entry {
  std::int64_t rank = -1;  ///< -1: none
  std::int64_t file = 0;
  bool operator==(const Entry&) const = default;
};

inline transport::CallHead packed(const Head& head) {
  transport::CallHead result{};
  std::memcpy(result.data(), &head, sizeof head);
  return result;
}
inline Head unpacked(const transport::CallHead& packed) {
  Head head;
  std::memcpy(&head, packed.data(), sizeof head);
  return head;
}

/// Maximum bytes of a piece of a request, which is the size of the server's buffers.
inline constexpr std::int64_t kPieceBytes = std::int64_t{256} << 10;
/// The longest name in a directory.
inline constexpr std::size_t kMaxNameBytes = 4096;

}  // namespace plait::distant
