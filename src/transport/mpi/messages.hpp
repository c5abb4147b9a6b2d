/// Messages of data between two processes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>

#include "transport/mpi/liveness/notices.hpp"
#include "transport/transport.hpp"

namespace plait::transport::mpi {

/// Both sides pass the same number of bytes.  A ticket that is destroyed before its message is complete abandons it,
/// which `notices` records.
/// errors  kSystem: MPI fails.  std::bad_alloc: nothing was started.
std::unique_ptr<Ticket> start_send(MPI_Comm comm, int to, std::span<const std::byte> bytes, Notices& notices);
std::unique_ptr<Ticket> start_receive(MPI_Comm comm, int from, std::span<std::byte> bytes, Notices& notices);

}  // namespace plait::transport::mpi
