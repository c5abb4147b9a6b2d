/// Connections over sockets and a clock that exist only in a test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "transport/connections/connections.hpp"

namespace plait::transport::connections {

/// Each does what the test says: what it opens, and what comes.
class FakeSockets : public Sockets {
 public:
  struct Fake {
    std::string to;           // the local name or the last byte of the address; empty: accepted
    int outcome = 0;          // EINPROGRESS while the connection is being made
    std::string sent;         // by this process
    std::deque<char> coming;  // to this process
    bool over = false;        // the other end has closed
    bool kept = false;
  };

  bool usable() const override { return usable_; }
  Opened open_local(const std::string& name) override {
    if (local_code != 0) return {-1, local_code};
    return {add(name, 0)};
  }
  Opened open_network(const sockaddr_in6& address) override {
    tries.push_back(address.sin6_addr.s6_addr[15]);
    if (!can_make) return {-1, EMFILE, false};
    if (network_code != EINPROGRESS) return {-1, network_code};
    return {add(std::to_string(tries.back()), EINPROGRESS), EINPROGRESS};
  }
  int outcome(int socket) override { return open.at(socket).outcome; }
  void keep(int socket) override { open.at(socket).kept = true; }
  bool send(int socket, std::span<const std::byte> bytes) override {
    if (!has_room) return false;
    open.at(socket).sent.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return true;
  }
  std::ptrdiff_t receive(int socket, std::span<std::byte> into) override {
    Fake& fake = open.at(socket);
    const std::size_t got = std::min(into.size(), fake.coming.size());
    if (got == 0) return fake.over ? kEnd : kNothingYet;
    std::transform(fake.coming.begin(), fake.coming.begin() + static_cast<std::ptrdiff_t>(got), into.begin(),
                   [](char one) { return static_cast<std::byte>(one); });
    fake.coming.erase(fake.coming.begin(), fake.coming.begin() + static_cast<std::ptrdiff_t>(got));
    return static_cast<std::ptrdiff_t>(got);
  }
  bool hung_up(int socket) override { return open.at(socket).over; }
  void close(int socket) override {
    closed[socket] = open.at(socket).sent;  // throws where it is not open
    open.erase(socket);
  }
  int add(const std::string& to, int outcome) {
    open[++last].to = to;
    open[last].outcome = outcome;
    return last;
  }

  std::map<int, Fake> open;
  std::map<int, std::string> closed;  // what had been sent
  std::vector<int> tries;             // the last byte of each address that was tried
  int last = 2;
  bool usable_ = true;
  bool can_make = true;
  bool has_room = true;
  int local_code = 0;
  int network_code = EINPROGRESS;
};

/// This process is rank 0, 1 is on its host, 2 and 3 are on others, 4 has no network.
class ConnectionsTest : public ::testing::Test {
 protected:
  static constexpr int kNear = 1;
  static constexpr int kFar = 2;
  static constexpr int kOther = 3;
  static constexpr int kUnlisted = 4;

  static Directory::Address address(int rank, int host) {
    Directory::Address made;
    made.boot[0] = static_cast<char>('a' + host);
    made.cookie = 1000U + static_cast<unsigned>(rank);
    made.local = 1;
    made.port = rank == kUnlisted ? 0 : 5000;
    made.addresses = 1;
    made.network[0][15] = static_cast<std::uint8_t>(10 * rank);
    return made;
  }
  static std::vector<Directory::Address> everybody() {
    return {address(0, 0), address(kNear, 0), address(kFar, 2), address(kOther, 3), address(kUnlisted, 4)};
  }

  /// What a process says first.
  static std::string hello(std::uint64_t cookie, std::int64_t rank) {
    std::string text(16, '\0');
    std::memcpy(text.data(), &cookie, 8);
    std::memcpy(text.data() + 8, &rank, 8);
    return text;
  }
  int accept() {
    const int socket = sockets.add("", 0);
    connections.accepted(socket);
    return socket;
  }
  /// Something comes on a socket, and the handler takes it.
  Woken comes(int socket, const std::string& text) {
    auto& coming = sockets.open.at(socket).coming;
    coming.insert(coming.end(), text.begin(), text.end());
    Woken woken;
    connections.ready(socket, woken);
    return woken;
  }
  void ends(int socket) {
    sockets.open.at(socket).over = true;
    Woken woken;
    connections.ready(socket, woken);
  }
  int calls_here(int rank) {
    const int socket = accept();
    comes(socket, hello(1000, rank));
    return socket;
  }
  /// The open sockets to a rank of another host.
  std::vector<int> sockets_to(int rank) const {
    std::vector<int> found;
    for (const auto& [socket, fake] : sockets.open)
      if (fake.to == std::to_string(10 * rank)) found.push_back(socket);
    return found;
  }
  /// What is being connected to a rank comes out so.
  void comes_out(int rank, int code) {
    for (const int socket : sockets_to(rank))
      if (sockets.open.at(socket).outcome == EINPROGRESS) sockets.open.at(socket).outcome = code;
    connections.advance(now);
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    connections.advance(now);
  }
  /// The letter of a peer's state, and + for each time that it was told to be ready, ! to have gone, ~ to have left.
  std::string news_of(int rank) {
    std::string text(1, "UPATCSG"[static_cast<std::size_t>(connections.state(rank))]);
    for (const Connections::News& one : connections.take_news())
      if (one.peer == rank) text += one.what == PeerNews::kReady ? '+' : one.took_leave ? '~' : '!';
    return text;
  }

  Clock::time_point now{std::chrono::hours(1)};
  FakeSockets sockets;
  Directory directory{0, everybody()};
  Connections connections{directory, sockets};
};

}  // namespace plait::transport::connections
