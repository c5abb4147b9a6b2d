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
/// If a process is stopped (SIGSTOP), its kernel accepts the connection but the process sends nothing; the attempt
/// continues to wait for that process.
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
    kConnected,   ///< connected; take_socket() returns the connection
    kRefused,     ///< the host answers, but no process with this key listens
    kUnanswered,  ///< no address answers
    kUnable,      ///< this process could create no socket, or knows no address
  };
  using EndCallback = std::function<void(ConnectionAttempt&)>;

  /// on_end: called by go_on() when the attempt has ended by itself.
  ConnectionAttempt(EventLoop& loop, std::vector<Address> addresses, const Key& key, EndCallback on_end)
      : loop_(loop), addresses_(std::move(addresses)), key_(key), on_end_(std::move(on_end)) {}

  /// Continues the attempt.  Called by events and by timers.
  void go_on(Clock::time_point now);
  void on_event(std::uint32_t) override { go_on(Clock::now()); }
  /// Ends the attempt; `on_end` is not called after this.
  void end();
  /// Returns the time at which go_on() must be called if no event arrives.
  Clock::time_point next_time() const;
  State state() const { return state_; }
  base::Descriptor take_socket() { return std::move(socket_); }
  bool is_local() const { return addresses_[address_index_].is_local(); }
  /// Returns the last result of each address, for messages.
  std::string describe_results() const;

 private:
  /// What advance() does after a stage of the attempt: wait for an event, end, or try the next stage or address.
  enum class Progress : std::uint8_t { kWait, kConnected, kNext };
  void advance(Clock::time_point now);
  void finish(State state);
  void begin_round(Clock::time_point now);
  Progress begin(Clock::time_point now);
  Progress check_connected(Clock::time_point now);
  Progress send_hello();
  Progress receive(Clock::time_point now);
  Progress give_up_address(int code, const std::string& why);
  bool has_one_address() const { return addresses_.size() == 1; }
  Clock::duration round_time() const;

  EventLoop& loop_;
  const std::vector<Address> addresses_;
  const Key key_;
  const EndCallback on_end_;
  State state_ = State::kTrying;
  std::size_t address_index_ = 0;
  base::Descriptor socket_;
  std::optional<Watch> watch_;
  std::optional<ClientHandshake> handshake_;  // set while the socket is connected
  std::vector<std::string> results_;          // the last error at each address
  bool socket_created_ = false;               // a socket could be created
  bool was_refused_ = false;                  // an address has refused the connection
  bool is_busy_ = false;                      // in this round, a process that is busy or stopped listens at an address
  bool lacks_memory_ = false;                 // there was no memory; next_time() is then a time to try again
  Clock::time_point memory_lack_time_;
  Clock::time_point answer_time_;    // the beginning, or the last time when a process accepted a connection
  Clock::time_point round_begin_;    // beginning of the current round
  Clock::time_point address_begin_;  // beginning of the attempt at the current address
};

}  // namespace plait::transport::native
