/// The requests of a program of a recording, as a replay makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/replay/recording.hpp"

namespace plait::simulation {

/// The requests of one program in turn.
class RequestCursor {
 public:
  /// aggregate  bytes up to which requests that follow each other in a file become one
  RequestCursor(const Recording& recording, std::size_t program, std::int64_t aggregate);
  /// The next request; of kind exit behind the last.
  Request next();

 private:
  bool take(Request& request);

  const Recording& recording_;
  const Program& program_;
  std::int64_t aggregate_;
  std::size_t chunk_ = 0;
  std::size_t at_ = 0;
  std::vector<Request> requests_;
  Request ahead_;
  bool has_ahead_ = false;
  Time carried_ = 0;  // computing between reads that became one
  Time paused_ = 0;
};

}  // namespace plait::simulation
