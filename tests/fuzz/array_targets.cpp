// The kinds of bytes that the fuzzing program of the array library tests.
#include <vector>

#include "container_target.hpp"
#include "encoding_target.hpp"
#include "pipe_target.hpp"
#include "received.hpp"

namespace plait::fuzz {

const std::vector<MessageKind>& message_kinds() {
  static const std::vector<MessageKind> kAll = [] {
    std::vector<MessageKind> all = encoding_kinds();
    for (const MessageKind& kind : pipe_kinds()) all.push_back(kind);
    for (const MessageKind& kind : file_kinds()) all.push_back(kind);
    return all;
  }();
  return kAll;
}

}  // namespace plait::fuzz
