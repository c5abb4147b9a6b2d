#include "distant/shared/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "collective/agree.hpp"
#include "collective/message_buffer.hpp"
#include "collective/reserve.hpp"

namespace plait::distant::shared {

namespace {

constexpr std::size_t kHeader = sizeof(std::int64_t);  // the length of the text that follows

void put(const std::string& text, std::byte* message) {
  const auto length = static_cast<std::int64_t>(text.size());
  std::memcpy(message, &length, kHeader);
  std::memcpy(message + kHeader, text.data(), text.size());
}

/// Needs no memory where `text` has room for it.
void take(const std::byte* message, std::string& text) {
  std::int64_t length = 0;
  std::memcpy(&length, message, kHeader);
  text.assign(reinterpret_cast<const char*>(message + kHeader), static_cast<std::size_t>(length));
}

}  // namespace

// All memory is there before the first message, for a rank that left one out would keep the others waiting.
std::vector<std::string> gather(transport::Transport& transport, MakeText make) {
  std::string mine;
  collective::agree(transport, collective::caught([&] { mine = make(); }));
  auto longest = -static_cast<std::int64_t>(mine.size());
  transport.reduce_min({&longest, 1});
  const auto room = static_cast<std::size_t>(-longest);
  std::vector<std::string> all;
  collective::MessageBuffer message(transport);
  std::optional<collective::Reserve> reserve;
  collective::agree(transport, collective::caught([&] {
                      message.allocate(kHeader + room);
                      if (transport.rank() == 0)
                        all.assign(static_cast<std::size_t>(transport.size()), std::string(room, '\0'));
                      reserve.emplace();
                    }));
  const std::span bytes = message.first(message.size());
  collective::FirstError made_good;  // what succeeds in the end is no error
  if (transport.rank() != 0) {
    put(mine, bytes.data());
    reserve->again(made_good, [&] { return transport.send(0, bytes); })->complete();
    return all;
  }
  all[0].assign(mine);
  for (int rank = 1; rank < transport.size(); ++rank) {
    reserve->again(made_good, [&] { return transport.receive(rank, bytes); })->complete();
    take(bytes.data(), all[static_cast<std::size_t>(rank)]);
  }
  return all;
}

std::string tell(transport::Transport& transport, MakeText make) {
  std::string text;
  collective::agree(transport, collective::caught([&] { text = make(); }));
  auto length = static_cast<std::int64_t>(text.size());
  transport.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  collective::agree(transport, collective::caught([&] { text.resize(static_cast<std::size_t>(length)); }));
  constexpr std::size_t kMost = transport::Transport::kMostBroadcast;
  for (std::size_t done = 0; done < text.size(); done += kMost)
    transport.broadcast(std::as_writable_bytes(std::span(text).subspan(done, std::min(kMost, text.size() - done))), 0);
  return text;
}

}  // namespace plait::distant::shared
