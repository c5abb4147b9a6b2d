/// Extracts the ranks from a list of messages.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/conversion.hpp"

namespace plait::plan {

/// Returns the rank of each message, in the order of the messages.
inline std::vector<std::int64_t> message_ranks(const std::vector<Message>& messages) {
  std::vector<std::int64_t> result;
  for (const Message& message : messages) result.push_back(message.rank);
  return result;
}

}  // namespace plait::plan
