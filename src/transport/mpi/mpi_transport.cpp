#include "transport/mpi/mpi_transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <vector>

#include "plait/error.hpp"
#include "plait/mpi.hpp"
#include "transport/mpi/active.hpp"
#include "transport/mpi/check.hpp"
#include "transport/mpi/counters.hpp"
#include "transport/mpi/forked.hpp"
#include "transport/mpi/liveness.hpp"
#include "transport/mpi/segment.hpp"
#include "transport/node/group.hpp"

namespace plait::transport::mpi {

namespace {

/// One MPI call moves at most this much: counts are ints.
constexpr std::size_t kMostBytesAMessage = std::size_t{1} << 30;
constexpr int kTag = 7;

/// A communicator of our own, freed unless MPI has ended already.
class OwnComm {
 public:
  OwnComm() = default;
  ~OwnComm() {
    int ended = 0;
    if (comm_ != MPI_COMM_NULL && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) MPI_Comm_free(&comm_);
  }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  MPI_Comm get() const { return comm_; }
  MPI_Comm* out() { return &comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

class MpiTicket : public Ticket {
 public:
  explicit MpiTicket(std::vector<MPI_Request> requests) : requests_(std::move(requests)) {}
  void complete() override {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

 private:
  std::vector<MPI_Request> requests_;
};

class NodeWindows : public SharedWindows {
 public:
  NodeWindows(MPI_Comm node, MPI_Comm everyone, int node_size, std::int64_t bytes)
      : segment_(node, everyone, bytes * node_size), bytes_(bytes) {}
  std::byte* part(int node_rank) const override { return segment_.data() + node_rank * bytes_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  Segment segment_;
  std::int64_t bytes_;
};

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(MPI_Comm communicator) {
    check(MPI_Comm_dup(communicator, everyone_.out()), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(everyone_.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(everyone_.get(), &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(everyone_.get(), &size_), "MPI_Comm_size");
    find_node();
    find_workers();
    control_.emplace(node_.get(), everyone_.get(), node::control_bytes(node_size_));
    group_.emplace(control_->data(), node_rank_, node_size_,
                   std::make_unique<PeerLiveness>(node_.get(), workers_, nodes_apart() ? losses_ : nullptr));
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }
  int worker_on_node(int node_rank) const override { return workers_[static_cast<std::size_t>(node_rank)]; }
  int place_on_node(int worker) const override {
    const auto found = std::lower_bound(workers_.begin(), workers_.end(), worker);
    return found != workers_.end() && *found == worker ? static_cast<int>(found - workers_.begin()) : -1;
  }

  SharedWindows& windows(std::int64_t bytes) override {
    if (!windows_ || windows_->bytes() < bytes) {
      windows_ = nullptr;
      const std::int64_t rounded = (bytes + kPage - 1) / kPage * kPage;
      windows_ = std::make_unique<NodeWindows>(node_.get(), everyone_.get(), node_size_, rounded);
    }
    return *windows_;
  }
  Gates& gates() override { return *group_; }
  std::unique_ptr<SharedPart> share(std::int64_t bytes) override {
    return mpi::share(node_.get(), everyone_.get(), bytes, node_group_);
  }
  std::int64_t node_group() const override { return node_group_; }
  std::span<std::byte> note(int node_rank) override { return group_->note(node_rank); }

  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) override {
    losses_->check();
    std::vector<MPI_Request> requests;
    for (std::size_t done = 0; done == 0 || done < bytes.size(); done += kMostBytesAMessage) {
      const std::size_t part = std::min(kMostBytesAMessage, bytes.size() - done);
      check(MPI_Isend(bytes.data() + done, static_cast<int>(part), MPI_BYTE, to, kTag, everyone_.get(),
                      &requests.emplace_back()),
            "MPI_Isend");
    }
    return std::make_unique<MpiTicket>(std::move(requests));
  }

  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) override {
    losses_->check();
    std::vector<MPI_Request> requests;
    for (std::size_t done = 0; done == 0 || done < bytes.size(); done += kMostBytesAMessage) {
      const std::size_t part = std::min(kMostBytesAMessage, bytes.size() - done);
      check(MPI_Irecv(bytes.data() + done, static_cast<int>(part), MPI_BYTE, from, kTag, everyone_.get(),
                      &requests.emplace_back()),
            "MPI_Irecv");
    }
    return std::make_unique<MpiTicket>(std::move(requests));
  }

  void reduce_min(std::span<std::int64_t> values) override {
    group_->reduce_min(values);
    if (!nodes_apart()) return;
    check_running();
    // One process of each node speaks for it; the others sleep until it has the result.
    if (node_rank_ == 0) {
      const auto count = static_cast<int>(values.size());
      together(
          std::as_writable_bytes(values), "MPI_Allreduce",
          [&](void* data) { return MPI_Allreduce(MPI_IN_PLACE, data, count, MPI_INT64_T, MPI_MIN, leaders_.get()); },
          [&](void* data, MPI_Request* request) {
            return MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_INT64_T, MPI_MIN, leaders_.get(), request);
          });
    }
    group_->hand_out(values);
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    if (nodes_apart()) {
      check_running();
      const auto count = static_cast<int>(bytes.size());
      together(
          bytes, "MPI_Bcast", [&](void* data) { return MPI_Bcast(data, count, MPI_BYTE, root, everyone_.get()); },
          [&](void* data, MPI_Request* request) {
            return MPI_Ibcast(data, count, MPI_BYTE, root, everyone_.get(), request);
          });
    } else {
      group_->broadcast(bytes, root);
    }
  }

  void broadcast_to_nodes(std::span<std::byte> bytes) override {
    if (!nodes_apart()) return;
    for (std::size_t done = 0; done < bytes.size(); done += kMostBytesAMessage) {
      const std::size_t part = std::min(kMostBytesAMessage, bytes.size() - done);
      // Worker 0 is at place 0 of its node, and the first of the leaders.
      check(MPI_Bcast(bytes.data() + done, static_cast<int>(part), MPI_BYTE, 0, leaders_.get()), "MPI_Bcast");
    }
  }

  std::unique_ptr<Counter> counter() override {
    if (nodes_apart()) return make_remote_counter(everyone_.get());
    auto segment = std::make_shared<Segment>(node_.get(), everyone_.get(), kPage);
    auto& place = *reinterpret_cast<std::atomic<std::int64_t>*>(segment->data());
    return std::make_unique<MemoryCounter>(place, std::move(segment));
  }

  std::shared_ptr<Active> active(std::shared_ptr<CallService> service) override {
    return make_active(everyone_.get(), std::move(service), losses_);
  }

 private:
  /// errors  kSystem: MPI has ended, and ends a process that calls it then.
  static void check_running() {
    int ended = 0;
    if (MPI_Finalized(&ended) == MPI_SUCCESS && ended != 0)
      throw Error(ErrorKind::kSystem, "MPI has ended; close files, and finish what is collective, before MPI_Finalize");
  }

  static constexpr std::int64_t kPage = 4096;

  /// Carries out an operation of all nodes on `bytes`: `plain(data)`, or, where losses are watched for, which is so on
  /// all processes or none, its nonblocking kind `begin(data, request)`.
  /// errors  kSystem: a process has been lost, as far as that is known.
  template <typename Plain, typename Begin>
  void together(std::span<std::byte> bytes, const char* what, Plain plain, Begin begin) {
    if (!losses_->watching()) return check(plain(bytes.data()), what);
    losses_->check();
    MPI_Request request = MPI_REQUEST_NULL;
    // What a wait leaves that has been given up, MPI may still touch.
    auto copy = std::make_unique<std::vector<std::byte>>(bytes.begin(), bytes.end());
    check(begin(copy->data(), &request), what);
    try {
      losses_->wait(request, what);
    } catch (...) {
      static_cast<void>(copy.release());
      throw;
    }
    std::copy(copy->begin(), copy->end(), bytes.begin());
  }

  void find_node() {
    OwnComm whole;
    check(MPI_Comm_split_type(everyone_.get(), MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, whole.out()),
          "MPI_Comm_split_type");
    const char* setting = std::getenv("PLAIT_NODE_SIZE");
    int most = rank_ == 0 && setting != nullptr ? std::atoi(setting) : 0;
    check(MPI_Bcast(&most, 1, MPI_INT, 0, everyone_.get()), "MPI_Bcast");
    int place = 0;
    check(MPI_Comm_rank(whole.get(), &place), "MPI_Comm_rank");
    check(MPI_Comm_split(whole.get(), most > 0 ? place / most : 0, rank_, node_.out()), "MPI_Comm_split");
    check(MPI_Comm_rank(node_.get(), &node_rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(node_.get(), &node_size_), "MPI_Comm_size");
    check(MPI_Comm_split(everyone_.get(), node_rank_ == 0 ? 0 : MPI_UNDEFINED, rank_, leaders_.out()),
          "MPI_Comm_split");
  }

  void find_workers() {
    workers_.resize(static_cast<std::size_t>(node_size_));
    check(MPI_Allgather(&rank_, 1, MPI_INT, workers_.data(), 1, MPI_INT, node_.get()), "MPI_Allgather");
    // The same for every communicator of the same processes.
    const std::int64_t process = ::getpid();
    std::vector<std::int64_t> processes(workers_.size());
    check(MPI_Allgather(&process, 1, MPI_INT64_T, processes.data(), 1, MPI_INT64_T, node_.get()), "MPI_Allgather");
    std::sort(processes.begin(), processes.end());
    std::uint64_t hash = 14695981039346656037ULL;
    for (const std::int64_t one : processes) hash = (hash ^ static_cast<std::uint64_t>(one)) * 1099511628211ULL;
    node_group_ = static_cast<std::int64_t>(hash >> 2U);
  }

  std::shared_ptr<Losses> losses_ = std::make_shared<Losses>();
  OwnComm everyone_;
  OwnComm node_;
  OwnComm leaders_;
  int rank_ = 0;
  int size_ = 1;
  int node_rank_ = 0;
  int node_size_ = 1;
  std::vector<int> workers_;  // of this node, ascending
  std::int64_t node_group_ = 0;
  std::optional<Segment> control_;
  std::optional<node::Group> group_;
  std::unique_ptr<NodeWindows> windows_;
};

}  // namespace

std::shared_ptr<Transport> make_transport(MPI_Comm communicator) {
  check_not_forked();
  int started = 0;
  int ended = 0;
  if (MPI_Initialized(&started) != MPI_SUCCESS || started == 0 || MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0)
    throw Error(ErrorKind::kSystem, "MPI is not running; call MPI_Init first");
  return std::make_shared<MpiTransport>(communicator);
}

}  // namespace plait::transport::mpi

namespace plait {

Comm make_comm(MPI_Comm communicator) { return Comm(transport::mpi::make_transport(communicator)); }

}  // namespace plait
