/// The options in the name of a pipe.
#pragma once

#include <chrono>
#include <string>

#include "copy/cast/element_cast.hpp"
#include "pipe/writer/schedule.hpp"

namespace plait::pipe {

/// `pipe:NAME?queue=2&drop=oldest&readers=1&timeout=60&network=eth1&ports=4700-4800&casting=safe`.
struct Options {
  std::string name;
  int queue = 2;  ///< maximum number of steps that a writer holds
  FullQueuePolicy when_full = FullQueuePolicy::kWait;
  int readers = 1;                              ///< number of readers that the writer waits for when it opens the pipe
  std::chrono::duration<double> timeout{60.0};  ///< maximum wait for the other end to connect
  std::string network;  ///< networks on which the writer accepts connections of other hosts; empty: all
  int first_port = 0;   ///< the ports that the writer's processes may listen on; 0: any
  int last_port = 0;
  copy::Casting casting = copy::Casting::kNo;  ///< permitted conversions from the writer's dtype to the reader's
};

/// Parses the URL of a pipe.
/// errors  kArgument: an invalid name or option.
Options parse_options(const std::string& url);

}  // namespace plait::pipe
