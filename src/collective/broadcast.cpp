#include "collective/broadcast.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "collective/agree.hpp"
#include "collective/first_error.hpp"

namespace plait::collective {

namespace {

/// The length that stands for an error of worker 0.
constexpr std::int64_t kFailed = -1;

/// Broadcasts a text, or nothing if worker 0 has failed.
std::optional<std::string> broadcast(transport::Transport& transport, const std::string& mine, bool failed) {
  // The beginning of the text is sent with the length, so that short texts need one broadcast.
  constexpr std::size_t kFirst = 504;
  std::int64_t length = failed ? kFailed : static_cast<std::int64_t>(mine.size());
  std::array<std::byte, sizeof length + kFirst> head{};
  std::memcpy(head.data(), &length, sizeof length);
  std::memcpy(head.data() + sizeof length, mine.data(), std::min(mine.size(), kFirst));
  transport.broadcast(head, 0);
  std::memcpy(&length, head.data(), sizeof length);
  if (length == kFailed) return std::nullopt;
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

}  // namespace

std::string broadcast_text(transport::Transport& transport, const std::string& mine) {
  return transport.size() == 1 ? mine : *broadcast(transport, mine, false);
}

std::string broadcast_result(transport::Transport& transport, const std::string& mine,
                             const std::exception_ptr& failure) {
  if (transport.size() > 1)
    if (std::optional<std::string> text = broadcast(transport, mine, transport.rank() == 0 && failure != nullptr))
      return *std::move(text);
  agree(transport, failure);
  return mine;
}

}  // namespace plait::collective
