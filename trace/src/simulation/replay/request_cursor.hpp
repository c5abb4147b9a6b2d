/// The requests of a recorded program, in the form in which a replay makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/replay/recording.hpp"

namespace plait::simulation {

/// Iterates over the requests of one program.
class RequestCursor {
 public:
  /// aggregate  maximum size in bytes up to which adjacent requests of a file are joined
  RequestCursor(const Recording& recording, std::size_t program, std::int64_t aggregate);
  /// Returns the next request. After the last one its kind is kExit.
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
  Time carried_ = 0;  // computing between reads that were joined
  Time paused_ = 0;
};

}  // namespace plait::simulation
