#include <vector>

#include "container_target.hpp"
#include "encoding_target.hpp"
#include "pipe_target.hpp"
#include "received.hpp"

namespace plait::fuzz {

const std::vector<MessageKind>& received() {
  static const std::vector<MessageKind> kAll = [] {
    std::vector<MessageKind> all = received_encodings();
    for (const MessageKind& kind : received_by_pipes()) all.push_back(kind);
    for (const MessageKind& kind : received_in_files()) all.push_back(kind);
    return all;
  }();
  return kAll;
}

}  // namespace plait::fuzz
