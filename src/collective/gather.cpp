// Exchanges texts of different lengths. A lack of memory on one rank becomes an error of all ranks.
//
// Order: (1) each rank makes its text, and all agree. (2) A reduction computes the length of the longest text, as the
// minimum of the negative lengths. (3) Each rank allocates its message and the results, and all agree. (4) The messages
// are sent, all of one length, with their own length before each text. After (3) only the transport allocates, for
// which there is a Reserve.
//
// Example: texts of 5, 12 and 0 bytes. The minimum of -5, -12 and 0 is -12, so all messages have 8 + 12 = 20 bytes.

#include "collective/gather.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "collective/agree.hpp"
#include "collective/message_buffer.hpp"
#include "collective/reserve.hpp"

namespace plait::collective {

namespace {

constexpr std::size_t kHeaderBytes = sizeof(std::int64_t);  // bytes of the length that precedes each text

/// Encodes a text, after its length, in a message.
void encode_text(const std::string& text, std::byte* message) {
  const auto length = static_cast<std::int64_t>(text.size());
  std::memcpy(message, &length, kHeaderBytes);
  std::memcpy(message + kHeaderBytes, text.data(), text.size());
}

/// Decodes the text of a message. Needs no memory if `text` has enough capacity.
void decode_text(const std::byte* message, std::string& text) {
  std::int64_t length = 0;
  std::memcpy(&length, message, kHeaderBytes);
  text.assign(reinterpret_cast<const char*>(message + kHeaderBytes), static_cast<std::size_t>(length));
}

}  // namespace

// All memory is allocated before the first message, because a rank that omitted a message would make the others wait
// forever.
std::vector<std::string> gather(transport::Transport& transport, MakeText make, RankGroups groups) {
  const int own_rank = transport.rank();
  const bool is_member = groups.has(own_rank);
  const int first = is_member ? groups.first(own_rank) : -1;
  const std::int64_t next = std::min<std::int64_t>(first + std::int64_t{groups.stride} * groups.members,
                                                   transport.size());  // the first rank of the next group
  std::string text;
  agree(transport, caught([&] {
          if (is_member) text = make();
        }));
  auto min_negative_length = -static_cast<std::int64_t>(text.size());
  transport.reduce_min({&min_negative_length, 1});
  const auto capacity = static_cast<std::size_t>(-min_negative_length);
  std::vector<std::string> all;
  MessageBuffer message(transport);
  std::optional<Reserve> reserve;
  agree(transport, caught([&] {
          message.allocate(kHeaderBytes + capacity);
          if (own_rank == first)
            all.assign(static_cast<std::size_t>((next - first + groups.stride - 1) / groups.stride),
                       std::string(capacity, '\0'));
          reserve.emplace();
        }));
  if (!is_member) return all;
  const std::span bytes = message.first(message.size());
  FirstError resolved;  // errors that a later attempt resolved are not reported
  if (own_rank != first) {
    encode_text(text, bytes.data());
    reserve->again(resolved, [&] { return transport.send(first, bytes); })->complete();
    return all;
  }
  all[0].assign(text);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const int rank = first + static_cast<int>(i) * groups.stride;
    reserve->again(resolved, [&] { return transport.receive(rank, bytes); })->complete();
    decode_text(bytes.data(), all[i]);
  }
  return all;
}

std::string agree_on_text(transport::Transport& transport, MakeText make) {
  std::string text;
  agree(transport, caught([&] { text = make(); }));
  auto length = static_cast<std::int64_t>(text.size());
  transport.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  agree(transport, caught([&] { text.resize(static_cast<std::size_t>(length)); }));
  constexpr std::size_t kMaxBroadcast = transport::Transport::kMaxBroadcast;
  for (std::size_t done = 0; done < text.size(); done += kMaxBroadcast)
    transport.broadcast(
        std::as_writable_bytes(std::span(text).subspan(done, std::min(kMaxBroadcast, text.size() - done))), 0);
  return text;
}

std::vector<std::string> gather_to_all(transport::Transport& transport, MakeText make) {
  const std::vector<std::string> texts = gather(transport, make);
  const std::string all = agree_on_text(transport, [&] { return base::encode(texts); });
  std::vector<std::string> decoded;
  agree(transport, caught([&] { base::decode(all, base::kAnotherRank, decoded); }));
  return decoded;
}

}  // namespace plait::collective
