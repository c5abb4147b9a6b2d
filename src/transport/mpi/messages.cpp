#include "transport/mpi/messages.hpp"

#include <algorithm>
#include <vector>

#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"
#include "transport/mpi/tags.hpp"

namespace plait::transport::mpi {

namespace {

/// A long message begins with a short part that the receiver acknowledges, and continues in parts of 4 MiB. A process
/// that has waited for a long time tests only rarely (notices.cpp) until it sees progress: each completed part is
/// progress. Example: 10 MiB are sent as 1 KiB, 4 MiB, 4 MiB and 2 MiB - 1 KiB.
constexpr std::size_t kLongMessage = std::size_t{64} << 10;
constexpr std::size_t kFirstPart = std::size_t{1} << 10;
constexpr std::size_t kNextPart = std::size_t{4} << 20;

class MpiTicket : public Ticket {
 public:
  /// Allocates the memory for all requests first, because an operation that has started must be completed.
  MpiTicket(std::size_t bytes, Notices& notices) : notices_(notices) { requests_.reserve(bytes / kNextPart + 3); }
  ~MpiTicket() override {
    if (!is_complete_ && !requests_.empty()) notices_.abandon();
  }
  MpiTicket(const MpiTicket&) = delete;
  MpiTicket& operator=(const MpiTicket&) = delete;
  /// Returns the request of the next part, which is to be started.
  MPI_Request* add_request() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void complete() override {
    notices_.wait_for_messages(requests_, "a message between nodes");
    is_complete_ = true;
  }
  bool test() override {
    for (; ended_ < requests_.size(); ++ended_) {
      int complete = 0;
      check(call(MPI_Test, &requests_[ended_], &complete, MPI_STATUS_IGNORE), "a message between nodes");
      if (complete == 0) return false;
    }
    is_complete_ = true;
    return true;
  }

 private:
  Notices& notices_;
  std::vector<MPI_Request> requests_;
  std::size_t ended_ = 0;  // number of requests that tests have found complete
  bool is_complete_ = false;
};

/// Calls `start(part, acknowledged, request)` for each part of a message.  acknowledged: the part is complete only when
/// its receiver has begun to receive it (MPI_Issend).
template <typename Bytes, typename Start>
std::unique_ptr<Ticket> start_parts(Bytes bytes, Notices& notices, Start&& start) {
  auto ticket = std::make_unique<MpiTicket>(bytes.size(), notices);
  const bool is_long = bytes.size() > kLongMessage;
  std::size_t started = is_long ? kFirstPart : 0;  // bytes
  if (is_long) start(bytes.first(kFirstPart), /*acknowledged=*/true, ticket->add_request());
  do {  // an empty message also has a part
    const std::size_t length = std::min(kNextPart, bytes.size() - started);
    start(bytes.subspan(started, length), /*acknowledged=*/false, ticket->add_request());
    started += length;
  } while (started < bytes.size());
  return ticket;
}

}  // namespace

std::unique_ptr<Ticket> start_send(MPI_Comm comm, int to, std::span<const std::byte> bytes, Notices& notices) {
  return start_parts(bytes, notices, [&](std::span<const std::byte> part, bool acknowledged, MPI_Request* request) {
    const auto send = acknowledged ? MPI_Issend : MPI_Isend;
    check(call(send, part.data(), static_cast<int>(part.size()), MPI_BYTE, to, kDataTag, comm, request), "MPI_Isend");
  });
}

std::unique_ptr<Ticket> start_receive(MPI_Comm comm, int from, std::span<std::byte> bytes, Notices& notices) {
  return start_parts(bytes, notices, [&](std::span<std::byte> part, bool, MPI_Request* request) {
    check(call(MPI_Irecv, part.data(), static_cast<int>(part.size()), MPI_BYTE, from, kDataTag, comm, request),
          "MPI_Irecv");
  });
}

}  // namespace plait::transport::mpi
