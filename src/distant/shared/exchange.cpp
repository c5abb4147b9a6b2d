#include "distant/shared/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "collective/agree.hpp"
#include "collective/reserve.hpp"

namespace plait::distant::shared {

namespace {

constexpr std::size_t kHeader = sizeof(std::int64_t);  // the length of the text that follows

std::string with_header(const std::string& text, std::size_t room) {
  const auto length = static_cast<std::int64_t>(text.size());
  std::string message(kHeader + room, '\0');
  std::memcpy(message.data(), &length, kHeader);
  text.copy(message.data() + kHeader, text.size());
  return message;
}

/// Needs no memory.
void take_header_off(std::string& message) {
  std::int64_t length = 0;
  std::memcpy(&length, message.data(), kHeader);
  message.erase(0, kHeader);
  message.resize(static_cast<std::size_t>(length));
}

}  // namespace

// All memory is there before the first message, for a rank that left one out would keep the others waiting.
std::vector<std::string> gather(transport::Transport& transport, MakeText make) {
  std::string mine;
  collective::agree(transport, collective::caught([&] { mine = make(); }));
  auto longest = -static_cast<std::int64_t>(mine.size());
  transport.reduce_min({&longest, 1});
  std::vector<std::string> all;
  std::optional<collective::Reserve> reserve;
  collective::agree(transport, collective::caught([&] {
                      mine = with_header(mine, static_cast<std::size_t>(-longest));
                      if (transport.rank() == 0) all.assign(static_cast<std::size_t>(transport.size()), mine);
                      reserve.emplace();
                    }));
  collective::FirstError made_good;  // what succeeds in the end is no error
  if (transport.rank() != 0) {
    reserve->again(made_good, [&] { return transport.send(0, std::as_bytes(std::span(mine))); })->complete();
    return all;
  }
  for (int rank = 0; rank < transport.size(); ++rank) {
    std::string& text = all[static_cast<std::size_t>(rank)];
    if (rank > 0)
      reserve->again(made_good, [&] { return transport.receive(rank, std::as_writable_bytes(std::span(text))); })
          ->complete();
    take_header_off(text);
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
