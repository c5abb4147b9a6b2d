#include "transport/mpi/leaders.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "transport/mpi/check.hpp"
#include "transport/mpi/tags.hpp"

namespace plait::transport::mpi {

namespace {

/// One MPI call moves at most this much: counts are ints.
constexpr std::size_t kMostBytesAMessage = std::size_t{1} << 30;

}  // namespace

Leaders::Leaders(MPI_Comm everyone, std::vector<int> ranks, int index, Notices& notices)
    : everyone_(everyone), ranks_(std::move(ranks)), index_(index), notices_(notices) {}

Leaders::~Leaders() {
  int ended = 0;
  if (own_ != MPI_COMM_NULL && !notices_.given_up() && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0)
    MPI_Comm_free(&own_);
}

/// In each step everyone hears of twice as many as before; hearing of one twice does a minimum no harm.
void Leaders::reduce_min(std::span<std::int64_t> values) {
  const auto count = static_cast<int>(ranks_.size());
  const auto length = static_cast<int>(values.size());
  for (int distance = 1; distance < count; distance *= 2) {
    if (!step_) step_ = std::make_unique<Step>();
    Step* const step = step_.get();
    std::copy(values.begin(), values.end(), step->out.begin());
    const int from = ranks_[static_cast<std::size_t>((index_ - distance + count) % count)];
    const int to = ranks_[static_cast<std::size_t>((index_ + distance) % count)];
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Irecv(step->in.data(), length, MPI_INT64_T, from, kAgreeTag, everyone_, requests.data()), "MPI_Irecv");
    check(MPI_Isend(step->out.data(), length, MPI_INT64_T, to, kAgreeTag, everyone_, &requests[1]), "MPI_Isend");
    try {
      notices_.wait(requests, "an agreement between nodes");
    } catch (...) {
      static_cast<void>(step_.release());  // MPI may still touch it
      throw;
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::min(values[i], step->in[i]);
  }
}

void Leaders::broadcast(std::span<std::byte> bytes) {
  if (own_ == MPI_COMM_NULL) {
    // Whoever has left is noticed here: what follows waits for all of them without a look.
    std::array<std::int64_t, 1> nothing{};
    reduce_min(nothing);
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    check(MPI_Comm_group(everyone_, &all), "MPI_Comm_group");
    check(MPI_Group_incl(all, static_cast<int>(ranks_.size()), ranks_.data(), &some), "MPI_Group_incl");
    check(MPI_Comm_create_group(everyone_, some, kGroupTag, &own_), "MPI_Comm_create_group");
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    check(MPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  for (std::size_t done = 0; done < bytes.size(); done += kMostBytesAMessage) {
    const std::size_t part = std::min(kMostBytesAMessage, bytes.size() - done);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(bytes.data() + done, static_cast<int>(part), MPI_BYTE, 0, own_, &request), "MPI_Ibcast");
    notices_.wait_for_messages(std::span(&request, 1), "MPI_Ibcast");
  }
}

}  // namespace plait::transport::mpi
