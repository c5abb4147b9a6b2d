/// Active messages by local sockets and TCP, for the processes of any transport.
#pragma once

#include <memory>

#include "transport/active_messages.hpp"
#include "transport/losses.hpp"
#include "transport/transport.hpp"

namespace plait::transport::native {

/// The transport only exchanges addresses and a key while this is made: by notes, broadcasts and agreements.  All later
/// traffic is between the processes themselves, in both directions: local sockets on one host, TCP between hosts.
/// Connections are made when they are needed.  A thread that sleeps in the kernel does all that nobody waits for.
///
/// `losses` is told of processes that end without taking leave, and tells when all processes are to be watched; it may
/// be nullptr.  The end stops at EndingStage::kThreads at the latest (transport/ending.hpp).  A child of a fork has
/// none of it.  Collective over all workers of the transport, which may go before the end does.
/// errors  kSystem, on all: a process can make no socket or thread; says which.
std::shared_ptr<ActiveMessages> make_native_active(Transport& transport, std::shared_ptr<CallService> service,
                                                   std::shared_ptr<Losses> losses);

}  // namespace plait::transport::native
