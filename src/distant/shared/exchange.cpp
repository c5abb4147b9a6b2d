#include "distant/shared/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace plait::distant::shared {

std::vector<std::string> gather(transport::Transport& transport, const std::string& mine) {
  std::vector<std::string> all;
  if (transport.rank() != 0) {
    const auto length = static_cast<std::int64_t>(mine.size());
    transport.send(0, std::as_bytes(std::span(&length, 1)))->complete();
    if (length > 0) transport.send(0, std::as_bytes(std::span(mine)))->complete();
    return all;
  }
  all.push_back(mine);
  for (int rank = 1; rank < transport.size(); ++rank) {
    std::int64_t length = 0;
    transport.receive(rank, std::as_writable_bytes(std::span(&length, 1)))->complete();
    std::string text(static_cast<std::size_t>(length), '\0');
    if (length > 0) transport.receive(rank, std::as_writable_bytes(std::span(text)))->complete();
    all.push_back(std::move(text));
  }
  return all;
}

std::string tell(transport::Transport& transport, const std::string& mine) {
  auto length = static_cast<std::int64_t>(mine.size());
  transport.broadcast(std::as_writable_bytes(std::span(&length, 1)), 0);
  std::string text = mine;
  text.resize(static_cast<std::size_t>(length));
  constexpr std::size_t kMost = transport::Transport::kMostBroadcast;
  for (std::size_t done = 0; done < text.size(); done += kMost)
    transport.broadcast(std::as_writable_bytes(std::span(text).subspan(done, std::min(kMost, text.size() - done))), 0);
  return text;
}

}  // namespace plait::distant::shared
