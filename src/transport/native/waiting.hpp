/// Sockets that do not block, and waiting for them up to a deadline.
#pragma once

#include <cstddef>
#include <span>

#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// Waits until something of `events` (see poll()) is so.  Returns 0, ETIMEDOUT, EINTR where the program wants to get
/// out of it (see base/wait/interruption.hpp), or the system's code.
int wait_for(int socket, short events, Clock::time_point until);
/// Both return 0, ETIMEDOUT, ECONNRESET at the other end's end, or the system's code.
int send_all(int socket, std::span<const std::byte> bytes, Clock::time_point until);
int receive_all(int socket, std::span<std::byte> into, Clock::time_point until);

}  // namespace plait::transport::native
