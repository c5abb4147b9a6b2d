/// Active messages by local (Unix-domain) sockets and TCP, for the processes of any transport.
#pragma once

#include <memory>

#include "transport/active_messages.hpp"
#include "transport/losses.hpp"
#include "transport/transport.hpp"

namespace plait::transport::native {

/// Creates active messages.  The transport is used only during this call, to exchange addresses and a key by note(),
/// broadcast() and reduce_min().  Later the processes communicate directly: by local sockets on one host, by TCP
/// between hosts.  Connections are created at their first use.  A thread, which usually sleeps in epoll, serves calls,
/// and receives answers for which no thread is polling.
///
/// Processes that end without notice are recorded in `losses`, which may be nullptr; through it, a thread that waits
/// requests that all processes are watched (Losses::check_waiting).  The active messages stop at EndingStage::kThreads
/// at the latest (transport/ending.hpp), and cannot be used in a child process.  Collective over all workers of the
/// transport, which may be destroyed before the active messages.
/// errors  kSystem, on all: a process cannot create a socket or a thread; the error names the process.
std::shared_ptr<ActiveMessages> make_native_active(Transport& transport, std::shared_ptr<CallService> service,
                                                   std::shared_ptr<Losses> losses);

}  // namespace plait::transport::native
