/// Connections whose other ends have not proved that they know the key.
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

/// Each has a hello's time, and memory of fixed size.  Where there are many, the one that has been there longest makes
/// room for the next, once it has had time enough for a few round trips: who holds connections open and says nothing
/// keeps nobody out.
class UnauthenticatedConnections {
 public:
  enum class Outcome : std::uint8_t { kWaits, kRefused, kProved };
  struct Entry {
    base::Descriptor socket;
    bool near = false;
    Clock::time_point since;
    ServerHandshake handshake;
  };

  UnauthenticatedConnections(const Key& key, std::size_t most, Clock::duration hello)
      : key_(key), most_(most), hello_(hello) {}

  bool has(std::uint64_t id) const { return all_.contains(id); }
  /// Whether one more may come now; where the oldest has to go for that, it goes.
  bool free_capacity(Clock::time_point now);
  /// When that may be so later.
  Clock::time_point capacity_from() const;
  /// ids grow from one to the next.
  void add(std::uint64_t id, base::Descriptor socket, bool near, Clock::time_point now);
  /// Takes what one has sent.  Refused ones are gone then.
  Outcome receive(std::uint64_t id);
  /// One that is proved.
  Entry take(std::uint64_t id);
  /// Closes those whose time is up.
  void expire(Clock::time_point now);
  /// When the next one's time is up.
  Clock::time_point limit() const;
  /// How many have gone unproved since the last call.
  std::int64_t take_refused();
  void clear() { all_.clear(); }

 private:
  void reject(std::map<std::uint64_t, Entry>::iterator one);

  const Key key_;
  const std::size_t most_;
  const Clock::duration hello_;
  std::int64_t refused_ = 0;
  std::map<std::uint64_t, Entry> all_;  // the oldest first
};

}  // namespace plait::transport::native
