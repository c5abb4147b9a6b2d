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

/// Tries one address after the other, in rounds, because a host that does not answer may be reachable again soon.  A
/// stopped process accepts a connection and sends nothing; the attempt waits for it.
///
/// threads  The thread of its loop.
class ConnectionAttempt : public EventHandler, public std::enable_shared_from_this<ConnectionAttempt> {
 public:
  /// Time limit for one address of a host, during which one or two packets may be lost.
  static constexpr std::chrono::seconds kAttemptTimeout{4};
  /// Minimum time between the starts of two rounds, for other hosts and for this one.
  static constexpr std::chrono::milliseconds kRound{1000};
  static constexpr std::chrono::milliseconds kLocalRound{20};

  enum class State : std::uint8_t {
    kTrying,
    kThere,       ///< connected; socket() returns the connection
    kRefused,     ///< the host answers, and no process with this key listens
    kUnanswered,  ///< no address answers
    kUnable,      ///< this process could create no socket, or knows no address
  };
  using ChangeCallback = std::function<void(ConnectionAttempt&)>;

  /// changed: called by go_on() when the state has changed.
  ConnectionAttempt(EventLoop& loop, std::vector<Address> addresses, const Key& key, ChangeCallback changed)
      : loop_(loop), addresses_(std::move(addresses)), key_(key), changed_(std::move(changed)) {}

  /// Continues.  Called by events and by timers.
  void go_on(Clock::time_point now);
  void on_event(std::uint32_t) override { go_on(Clock::now()); }
  /// Ends the attempt; `changed` is not called after this.
  void end();
  /// When go_on() is to be called if no event arrives.
  Clock::time_point next() const;
  State state() const { return state_; }
  base::Descriptor socket() { return std::move(socket_); }
  bool near() const { return addresses_[at_].local(); }
  /// The last result of each address, for messages.
  std::string story() const;

 private:
  enum class Progress : std::uint8_t { kWait, kThere, kNext };
  void try_on(Clock::time_point now);
  void finish(State state);
  void begin_round(Clock::time_point now);
  Progress begin(Clock::time_point now);
  Progress look(Clock::time_point now);
  Progress greet();
  Progress receive(Clock::time_point now);
  Progress failed(int code, const std::string& why);
  bool only() const { return addresses_.size() == 1; }
  Clock::duration pause() const;

  EventLoop& loop_;
  const std::vector<Address> addresses_;
  const Key key_;
  const ChangeCallback changed_;
  State state_ = State::kTrying;
  std::size_t at_ = 0;
  base::Descriptor socket_;
  std::optional<Watch> watch_;
  std::optional<ClientHandshake> handshake_;  // where the connection is there
  std::vector<std::string> found_;            // at each address
  bool tried_ = false;                        // any of them
  bool refused_ = false;
  bool taken_ = false;    // in this round, somebody listens who is busy, or has been stopped
  bool lacking_ = false;  // memory
  Clock::time_point last_;
  Clock::time_point first_;
  Clock::time_point round_;  // of all addresses
  Clock::time_point begun_;  // of this address
};

}  // namespace plait::transport::native
