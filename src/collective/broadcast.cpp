// Broadcasts a text: first its length together with its first 504 bytes, then the rest in pieces of at most the size
// that the transport broadcasts at once. A length of -1 states that worker 0 has an error, which an agreement then
// reports.

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

/// The length that represents an error of worker 0.
constexpr std::int64_t kFailedLength = -1;

/// Broadcasts the text of worker 0. Returns nullopt if worker 0 has failed.
std::optional<std::string> broadcast(transport::Transport& transport, const std::string& text, bool has_failed) {
  // The beginning of the text is sent with its length, so that short texts need one broadcast of 512 bytes.
  constexpr std::size_t kInlineBytes = 504;
  std::int64_t length = has_failed ? kFailedLength : static_cast<std::int64_t>(text.size());
  std::array<std::byte, sizeof length + kInlineBytes> head{};
  std::memcpy(head.data(), &length, sizeof length);
  std::memcpy(head.data() + sizeof length, text.data(), std::min(text.size(), kInlineBytes));
  transport.broadcast(head, 0);
  std::memcpy(&length, head.data(), sizeof length);
  if (length == kFailedLength) return std::nullopt;
  const auto total_bytes = static_cast<std::size_t>(length);
  std::string result;
  FirstError memory_error;  // thrown at the end: this worker still takes part in all broadcasts
  const auto append_chunk = [&](const void* chunk, std::size_t bytes) {
    memory_error.keep([&] { result.append(static_cast<const char*>(chunk), bytes); });
  };
  append_chunk(head.data() + sizeof length, std::min(total_bytes, kInlineBytes));
  std::array<char, transport::Transport::kMaxBroadcast> chunk{};
  for (std::size_t done = kInlineBytes; done < total_bytes; done += chunk.size()) {
    const std::span part(chunk.data(), std::min(chunk.size(), total_bytes - done));
    if (transport.rank() == 0) std::copy_n(text.data() + done, part.size(), part.data());
    transport.broadcast(std::as_writable_bytes(part), 0);
    append_chunk(part.data(), part.size());
  }
  memory_error.rethrow();
  return result;
}

}  // namespace

std::string broadcast_text(transport::Transport& transport, const std::string& text) {
  return transport.size() == 1 ? text : *broadcast(transport, text, /*has_failed=*/false);
}

std::string broadcast_result(transport::Transport& transport, const std::string& text,
                             const std::exception_ptr& failure) {
  if (transport.size() > 1)
    if (std::optional<std::string> result = broadcast(transport, text, transport.rank() == 0 && failure != nullptr))
      return *std::move(result);
  agree(transport, failure);
  return text;
}

}  // namespace plait::collective
