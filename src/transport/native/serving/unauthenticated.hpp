/// The incoming connections of a server whose handshake (hello.hpp) is not done.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/descriptor.hpp"
#include "transport/native/frame.hpp"
#include "transport/native/hello.hpp"
#include "transport/native/key.hpp"

namespace plait::transport::native {

/// Each connection has a deadline and memory of fixed size.  If there are `max` connections, a new connection replaces
/// the oldest one, provided that the oldest one has had time for a few round trips.  So idle connections cannot block
/// others.
class UnauthenticatedConnections {
 public:
  enum class Outcome : std::uint8_t { kWaits, kRejected, kProved };
  struct Entry {
    base::Descriptor socket;
    bool is_local = false;
    Clock::time_point since;
    ServerHandshake handshake;
  };

  UnauthenticatedConnections(const Key& key, std::size_t max, Clock::duration timeout)
      : key_(key), max_(max), timeout_(timeout) {}

  bool has(std::uint64_t id) const { return all_.contains(id); }
  /// Returns true if one more connection may be accepted now.  Closes the oldest one if that is necessary.
  bool make_capacity(Clock::time_point now);
  /// Returns the earliest time at which make_capacity() can return true.
  Clock::time_point next_capacity() const;
  /// Adds a connection.  id: larger than all earlier ones, so that the map is ordered by age.
  void add(std::uint64_t id, base::Descriptor socket, bool is_local, Clock::time_point now);
  /// Receives and answers a part of the handshake.  A rejected connection is closed.
  Outcome receive(std::uint64_t id);
  /// Removes and returns a connection.
  Entry take(std::uint64_t id);
  /// Closes the connections whose deadline has passed.
  void expire(Clock::time_point now);
  Clock::time_point next_deadline() const;
  /// Returns the number of connections rejected since the last call.
  std::int64_t take_rejected();
  void clear() { all_.clear(); }

 private:
  void reject(std::map<std::uint64_t, Entry>::iterator connection);

  const Key key_;
  const std::size_t max_;
  const Clock::duration timeout_;
  std::int64_t rejected_ = 0;
  std::map<std::uint64_t, Entry> all_;  // the oldest first
};

}  // namespace plait::transport::native
