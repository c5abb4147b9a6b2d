/// The requests of a recorded program, in the form in which a replay makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/replay/recording.hpp"

namespace plait::simulation {

/// Iterates over the requests of one program and joins adjacent ones.
class RequestCursor {
 public:
  /// aggregate  maximum size in bytes up to which adjacent requests of a file are joined
  RequestCursor(const Recording& recording, std::size_t program, std::int64_t aggregate);
  /// Returns the next request. After the last one its kind is kExit.
  Request next();

 private:
  /// Reads the next recorded request of the replayed level. Returns false after the last one.
  bool read_next(Request& request);

  const Recording& recording_;
  const Program& program_;
  std::int64_t aggregate_;
  std::size_t next_chunk_ = 0;
  std::size_t next_in_chunk_ = 0;
  std::vector<Request> requests_;  // the current chunk
  Request peeked_;                 // the request after the one that was returned last, if has_peeked_
  bool has_peeked_ = false;
  Time pending_think_ = 0;  // computing between joined reads, added to the next request
  Time pending_pause_ = 0;  // pauses between joined reads, likewise
};

}  // namespace plait::simulation
