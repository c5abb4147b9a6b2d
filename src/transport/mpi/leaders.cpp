// Agreements and broadcasts between the first processes of all nodes ("leaders").
//
// Problem: a wait in MPI's own collectives cannot be abandoned, and a communicator of the leaders could not be created
// after one of them has left. Therefore both functions send single messages. Notices waits for them, and abandons the
// wait if a process has left.
//
// reduce_min() is a dissemination: in the phase with distance d = 1, 2, 4, ..., leader i sends its values to i + d and
// gets those of i - d. Example with 5 nodes: leader 3 gets the minimum of {2} at d = 1, of {1, 0} at d = 2, and of {4,
// 3, 2, 1} at d = 4. Values that arrive twice do not change a minimum, so that the count need not be a power of 2.
//
// broadcast() uses a binary tree: leader i receives from (i - 1) / 2 and sends to 2 i + 1 and 2 i + 2. It sends parts
// of 256 KiB, so that a leader receives one part while it sends the previous one. 1 MiB is 4 parts.

#include "transport/mpi/leaders.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/process.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"
#include "transport/mpi/tags.hpp"

namespace plait::transport::mpi {

namespace {

/// Bytes of a part of a broadcast.
constexpr std::size_t kPartBytes = std::size_t{256} << 10;

}  // namespace

Leaders::Leaders(MPI_Comm everyone, std::vector<int> ranks, int index, Notices& notices)
    : everyone_(everyone), ranks_(std::move(ranks)), index_(index), notices_(notices) {}

/// After each phase, the values of a leader are the minimum over twice as many leaders as before.
void Leaders::reduce_min(std::span<std::int64_t> values) {
  const auto count = static_cast<int>(ranks_.size());
  const auto length = static_cast<int>(values.size());
  for (int distance = 1; distance < count; distance *= 2) {
    if (!exchange_) exchange_ = std::make_unique<Exchange>();  // an earlier failure has leaked the previous buffers
    Exchange* const exchange = exchange_.get();
    std::copy(values.begin(), values.end(), exchange->out.begin());
    const int from = ranks_[static_cast<std::size_t>((index_ - distance + count) % count)];
    const int to = ranks_[static_cast<std::size_t>((index_ + distance) % count)];
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    try {
      check(call(MPI_Irecv, exchange->in.data(), length, MPI_INT64_T, from, kAgreeTag, everyone_, requests.data()),
            "MPI_Irecv");
      check(call(MPI_Isend, exchange->out.data(), length, MPI_INT64_T, to, kAgreeTag, everyone_, &requests[1]),
            "MPI_Isend");
      notices_.wait(requests, "an agreement between nodes");
    } catch (...) {
      notices_.abandon();
      base::leak(exchange_.release());  // MPI may still access the buffers
      throw;
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::min(values[i], exchange->in[i]);
  }
}

/// Each leader forwards what it receives to two others.
void Leaders::broadcast(std::span<std::byte> bytes) {
  const auto index = static_cast<std::size_t>(index_);
  std::array<MPI_Request, 2> sends{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  try {
    for (std::size_t done = 0; done < bytes.size(); done += kPartBytes) {
      std::byte* const part = bytes.data() + done;
      const auto length = static_cast<int>(std::min(kPartBytes, bytes.size() - done));
      if (index > 0) {
        MPI_Request receive = MPI_REQUEST_NULL;
        check(call(MPI_Irecv, part, length, MPI_BYTE, ranks_[(index - 1) / 2], kBroadcastTag, everyone_, &receive),
              "MPI_Irecv");
        notices_.wait_for_messages(std::span(&receive, 1), "a broadcast between nodes");
      }
      notices_.wait_for_messages(sends, "a broadcast between nodes");
      for (std::size_t child = 0; child < sends.size() && 2 * index + 1 + child < ranks_.size(); ++child)
        check(call(MPI_Isend, part, length, MPI_BYTE, ranks_[2 * index + 1 + child], kBroadcastTag, everyone_,
                   &sends[child]),
              "MPI_Isend");
    }
    notices_.wait_for_messages(sends, "a broadcast between nodes");
  } catch (...) {
    notices_.abandon();
    throw;
  }
}

}  // namespace plait::transport::mpi
