/// Connects to a process without blocking.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/native/address.hpp"
#include "transport/native/event_loop.hpp"
#include "transport/native/hello.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

/// Tries the addresses one after the other, in rounds, because a host that does not answer may soon be reachable again.
/// A process that is stopped accepts a connection but sends nothing; the attempt continues to wait for it.
///
/// threads  The thread of its loop.
class ConnectionAttempt : public EventHandler, public std::enable_shared_from_this<ConnectionAttempt> {
 public:
  /// Time limit for one address, long enough for one or two lost packets.
  static constexpr std::chrono::seconds kAttemptTimeout{4};
  /// Minimum time between the starts of two rounds, for other hosts and for this one.
  static constexpr std::chrono::milliseconds kRound{1000};
  static constexpr std::chrono::milliseconds kLocalRound{20};

  enum class State : std::uint8_t {
    kTrying,
    kConnected,   ///< connected; socket() returns the connection
    kRefused,     ///< the host answers, but no process with this key listens
    kUnanswered,  ///< no address answers
    kUnable,      ///< this process could create no socket, or knows no address
  };
  using ChangeCallback = std::function<void(ConnectionAttempt&)>;

  /// changed: called by go_on() when the attempt has ended.
  ConnectionAttempt(EventLoop& loop, std::vector<Address> addresses, const Key& key, ChangeCallback changed)
      : loop_(loop), addresses_(std::move(addresses)), key_(key), changed_(std::move(changed)) {}

  /// Continues the attempt.  Called by events and by timers.
  void go_on(Clock::time_point now);
  void on_event(std::uint32_t) override { go_on(Clock::now()); }
  /// Ends the attempt; `changed` is not called after this.
  void end();
  /// Returns the time at which go_on() must be called if no event arrives.
  Clock::time_point next() const;
  State state() const { return state_; }
  base::Descriptor socket() { return std::move(socket_); }
  bool near() const { return addresses_[address_index_].local(); }
  /// Returns the last result of each address, for messages.
  std::string story() const;

 private:
  enum class Progress : std::uint8_t { kWait, kConnected, kNext };
  void advance(Clock::time_point now);
  void finish(State state);
  void begin_round(Clock::time_point now);
  Progress begin(Clock::time_point now);
  Progress check_connected(Clock::time_point now);
  Progress greet();
  Progress receive(Clock::time_point now);
  Progress failed(int code, const std::string& why);
  bool has_one_address() const { return addresses_.size() == 1; }
  Clock::duration pause() const;

  EventLoop& loop_;
  const std::vector<Address> addresses_;
  const Key key_;
  const ChangeCallback changed_;
  State state_ = State::kTrying;
  std::size_t address_index_ = 0;
  base::Descriptor socket_;
  std::optional<Watch> watch_;
  std::optional<ClientHandshake> handshake_;  // set while the socket is connected
  std::vector<std::string> results_;          // the last error at each address
  bool socket_created_ = false;               // a socket could be created
  bool refused_ = false;                      // an address has refused the connection
  bool is_busy_ = false;                      // in this round, a process that is busy or stopped listens at an address
  bool lacks_memory_ = false;                 // there was no memory; next() is then a time to try again
  Clock::time_point memory_lack_time_;
  Clock::time_point answer_time_;    // the beginning, or the last time when a process accepted a connection
  Clock::time_point round_begin_;    // beginning of the current round
  Clock::time_point address_begin_;  // beginning of the attempt at the current address
};

}  // namespace plait::transport::native
