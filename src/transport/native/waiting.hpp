/// Waits for non-blocking sockets up to a deadline.
#pragma once

#include <cstddef>
#include <span>

#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// Waits until one of `events` (see poll()) occurs.  Returns 0; ETIMEDOUT; EINTR if a signal interrupts the wait
/// (base/wait/interruption.hpp); EHOSTUNREACH if the peer's host does not answer; or the errno of poll().
int wait_for(int socket, short events, Clock::time_point until);
/// Send or receive all bytes.  Both functions return 0, a code of wait_for(), ECONNRESET if the peer has closed the
/// connection, or another errno.
int send_all(int socket, std::span<const std::byte> bytes, Clock::time_point until);
int receive_all(int socket, std::span<std::byte> into, Clock::time_point until);

}  // namespace plait::transport::native
