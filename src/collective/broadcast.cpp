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
  // The beginning of the text is sent with the length, so that short texts need one broadcast.
  constexpr std::size_t kFirst = 504;
  auto length = static_cast<std::int64_t>(mine.size());
  std::array<std::byte, sizeof length + kFirst> head{};
  std::memcpy(head.data(), &length, sizeof length);
  std::memcpy(head.data() + sizeof length, mine.data(), std::min(mine.size(), kFirst));
  transport.broadcast(head, 0);
  std::memcpy(&length, head.data(), sizeof length);
  const auto whole = static_cast<std::size_t>(length);
  std::string result;
  FirstError lacking;  // of memory: this worker still takes part in all broadcasts
  const auto take = [&](const void* chunk, std::size_t bytes) {
    lacking.keep([&] { result.append(static_cast<const char*>(chunk), bytes); });
  };
  take(head.data() + sizeof length, std::min(whole, kFirst));
  std::array<char, transport::Transport::kMaxBroadcast> chunk{};
  for (std::size_t done = kFirst; done < whole; done += chunk.size()) {
    const std::span part(chunk.data(), std::min(chunk.size(), whole - done));
    if (transport.rank() == 0) std::copy_n(mine.data() + done, part.size(), part.data());
    transport.broadcast(std::as_writable_bytes(part), 0);
    take(part.data(), part.size());
  }
  lacking.rethrow();
  return result;
}

}  // namespace plait::collective
