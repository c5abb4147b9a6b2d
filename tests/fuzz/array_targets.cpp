#include <vector>

#include "container_target.hpp"
#include "encoding_target.hpp"
#include "pipe_target.hpp"
#include "received.hpp"

namespace plait::fuzz {

const std::vector<Received>& received() {
  static const std::vector<Received> kAll = [] {
    std::vector<Received> all = received_encodings();
    for (const Received& one : received_by_pipes()) all.push_back(one);
    for (const Received& one : received_in_files()) all.push_back(one);
    return all;
  }();
  return kAll;
}

}  // namespace plait::fuzz
