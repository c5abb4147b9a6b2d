#include "transport/mpi/first_meeting.hpp"

#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

FirstMeeting::FirstMeeting(MPI_Comm node, MPI_Comm everyone) : node_(node), everyone_(everyone) {
  check(call(MPI_Comm_rank, node, &rank_), "MPI_Comm_rank");
  check(call(MPI_Comm_size, node, &size_), "MPI_Comm_size");
}

void FirstMeeting::broadcast_from_first(std::span<std::byte> bytes) {
  check(call(MPI_Bcast, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, node_), "MPI_Bcast");
}

bool FirstMeeting::all_true(bool value) {
  int agreed = value ? 1 : 0;
  check(call(MPI_Allreduce, MPI_IN_PLACE, &agreed, 1, MPI_INT, MPI_MIN, node_), "MPI_Allreduce");
  return agreed != 0;
}

std::vector<std::int64_t> FirstMeeting::gather(std::int64_t value) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
  check(call(MPI_Allgather, &value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, node_), "MPI_Allgather");
  return values;
}

void FirstMeeting::reduce_max(std::span<std::int64_t> values) {
  check(call(MPI_Allreduce, MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MAX,
             everyone_),
        "MPI_Allreduce");
}

}  // namespace plait::transport::mpi
