#include "collective/broadcast.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "collective/first_error.hpp"

namespace plait::collective {

std::string broadcast_text(transport::Transport& transport, const std::string& mine) {
  if (transport.size() == 1) return mine;
  auto length = static_cast<std::int64_t>(mine.size());
  std::array<std::byte, sizeof length> bytes{};
  std::memcpy(bytes.data(), &length, sizeof length);
  transport.broadcast(bytes, 0);
  std::memcpy(&length, bytes.data(), sizeof length);
  std::string result;
  FirstError lacking;  // of memory: the others go on
  std::array<char, transport::Transport::kMostBroadcast> words{};
  for (std::size_t done = 0; done < static_cast<std::size_t>(length); done += words.size()) {
    const std::span part(words.data(), std::min(words.size(), static_cast<std::size_t>(length) - done));
    if (transport.rank() == 0) std::copy_n(mine.data() + done, part.size(), part.data());
    transport.broadcast(std::as_writable_bytes(part), 0);
    lacking.keep([&] { result.append(part.data(), part.size()); });
  }
  lacking.rethrow();
  return result;
}

}  // namespace plait::collective
