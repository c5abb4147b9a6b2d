#include "transport/mpi/mpi_transport.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"
#include "transport/mpi/counters.hpp"
#include "transport/mpi/finalize.hpp"
#include "transport/mpi/first_meeting.hpp"
#include "transport/mpi/forked.hpp"
#include "transport/mpi/leaders.hpp"
#include "transport/mpi/liveness/liveness.hpp"
#include "transport/mpi/messages.hpp"
#include "transport/mpi/topology.hpp"
#include "transport/native/active/native_active.hpp"
#include "transport/shared_memory/group_meeting.hpp"
#include "transport/shared_memory/process_exit.hpp"
#include "transport/shared_memory/segment.hpp"
#include "transport/shared_memory/windows.hpp"

namespace plait::transport::mpi {

namespace {

class MpiTransport : public Transport, public shared_memory::GroupMeeting, public shared_memory::ExitListener {
 public:
  explicit MpiTransport(MPI_Comm communicator) {
    check(call(MPI_Comm_dup, communicator, everyone_.out()), "MPI_Comm_dup");
    check(call(MPI_Comm_set_errhandler, everyone_.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(call(MPI_Comm_rank, everyone_.get(), &rank_), "MPI_Comm_rank");
    check(call(MPI_Comm_size, everyone_.get(), &size_), "MPI_Comm_size");
    Topology topology(everyone_.get());
    node_rank_ = topology.node_rank;
    node_size_ = topology.node_size;
    node_group_ = topology.node_group;
    is_thread_multiple_ = topology.is_thread_multiple;
    workers_ = topology.workers;
    nodes_ = topology.nodes;
    FirstMeeting meeting(topology.node.get(), everyone_.get());
    control_.emplace(meeting, shared_memory::control_bytes(node_size_));
    auto liveness = std::make_unique<PeerLiveness>(
        topology.node.get(), workers_, shared_memory::find_departures(control_->data(), node_size_), progress_);
    liveness_ = liveness.get();
    group_.emplace(control_->data(), node_rank_, node_size_, std::move(liveness));
    const bool has_several_nodes = nodes_apart();
    notices_.emplace(everyone_.get(), topology.cookie, group_->departures(), *liveness_,
                     FirstOfNodes{has_several_nodes ? topology.leaders : std::vector<int>(), topology.leader_index});
    if (has_several_nodes) {
      broadcast_buffer_ = std::make_unique<BroadcastBuffer>();
      liveness_->watch_nodes([this] { notices_->poll(); }, losses_.get());
      if (node_rank_ == 0) leaders_.emplace(everyone_.get(), topology.leaders, topology.leader_index, *notices_);
    }
    exit_registration_.emplace(*this);
  }
  ~MpiTransport() override {
    attachment() = nullptr;  // first, because the attached object uses the other members
    exit_registration_.reset();
    leave();
    if (notices_->has_abandoned() || (nodes_apart() && shared_memory::is_leaving())) everyone_.keep();
    if (messages_abandoned()) base::leak(windows_.release());
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  void leave() noexcept final {
    shared_memory::record_departure(group_->departure(), rank_, progress_.calls());
    int ended = 0;
    // Notify other nodes only if the program ends: a communicator is usually freed by all its processes.
    if (shared_memory::is_leaving() && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) notices_->poll();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }
  int worker_on_node(int node_rank) const override { return workers_[static_cast<std::size_t>(node_rank)]; }
  int rank_on_node(int worker) const override {
    const auto found = std::lower_bound(workers_.begin(), workers_.end(), worker);
    return found != workers_.end() && *found == worker ? static_cast<int>(found - workers_.begin()) : -1;
  }

  std::shared_ptr<const std::vector<IndexSet>> nodes() const override { return nodes_; }

  SharedWindows& windows(std::int64_t bytes) override { return shared_memory::ensure_windows(windows_, *this, bytes); }
  Gates& gates() override { return group(); }
  std::unique_ptr<SharedPart> share(std::int64_t bytes) override {
    return shared_memory::share(*this, bytes, node_group_);
  }
  std::int64_t node_group() const override { return node_group_; }
  std::span<std::byte> note(int node_rank) override { return group_->note(node_rank); }

  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) override {
    check_taking_part();
    return start_send(everyone_.get(), to, bytes, *notices_);
  }
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) override {
    check_taking_part();
    return start_receive(everyone_.get(), from, bytes, *notices_);
  }

  void await(base::FunctionRef<bool()> done) override {
    liveness_->check_uninterrupted();
    notices_->wait_until(done);
  }

  bool messages_abandoned() const override { return notices_->has_abandoned(); }

  void reduce_min(std::span<std::int64_t> values) override {
    const shared_memory::AgreementScope inside(progress_);
    if (nodes_apart()) check_running();
    check_taking_part();
    group_->reduce_min(values);
    if (!nodes_apart()) return;
    // The leader of each node agrees with those of the others, while the other processes sleep until it has the result.
    if (leaders_) leaders_->reduce_min(values);
    group_->broadcast_values(values);
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    const shared_memory::AgreementScope inside(progress_);
    check_taking_part();
    if (!nodes_apart()) return group_->broadcast(bytes, root);
    // Broadcast through a buffer of this object: if the wait is abandoned, MPI may still access the buffer, which then
    // must not be freed.
    if (!broadcast_buffer_) broadcast_buffer_ = std::make_unique<BroadcastBuffer>();
    std::copy(bytes.begin(), bytes.end(), broadcast_buffer_->begin());
    MPI_Request request = MPI_REQUEST_NULL;
    check(call(MPI_Ibcast, broadcast_buffer_->data(), static_cast<int>(bytes.size()), MPI_BYTE, root, everyone_.get(),
               &request),
          "MPI_Ibcast");
    try {
      notices_->wait(std::span(&request, 1), "MPI_Ibcast");
    } catch (...) {
      base::leak(broadcast_buffer_.release());
      throw;
    }
    std::copy_n(broadcast_buffer_->begin(), bytes.size(), bytes.begin());
  }

  void broadcast_to_nodes(std::span<std::byte> bytes) override {
    // Worker 0 is rank 0 of its node, and the first of the leaders.
    if (leaders_) leaders_->broadcast(bytes);
  }

  std::unique_ptr<Counter> counter() override {
    check_taking_part();
    if (nodes_apart()) {
      if (!is_thread_multiple_)
        base::throw_argument_error(
            "between nodes a position that all ranks share needs MPI_THREAD_MULTIPLE, and MPI was initialised for "
            "less; call MPI_Init_thread, or use streams of another mode than 1");
      return make_remote_counter(everyone_.get(), *notices_);
    }
    return shared_memory::make_counter(*this);
  }

  std::shared_ptr<ActiveMessages> active(std::shared_ptr<CallService> service) override {
    return native::make_native_active(*this, std::move(service), losses_);
  }
  bool background() const override { return is_thread_multiple_ || !nodes_apart(); }

 private:
  using BroadcastBuffer = std::array<std::byte, kMaxBroadcast>;

  /// Returns the group; also called through GroupMeeting when shared objects are created.
  /// errors  kSystem: this process has been interrupted in a call.
  shared_memory::Group& group() override {
    liveness_->check_uninterrupted();
    return *group_;
  }
  /// errors  kSystem: not all processes can take part any more, or this one has been interrupted.
  void check_taking_part() const {
    liveness_->check_uninterrupted();
    losses_->check();
  }

  std::shared_ptr<Losses> losses_ = std::make_shared<Losses>();
  OwnComm everyone_;
  int rank_ = 0;
  int size_ = 1;
  int node_rank_ = 0;
  int node_size_ = 1;
  std::vector<int> workers_;                            // ranks on this node, ascending
  std::shared_ptr<const std::vector<IndexSet>> nodes_;  // null if there is only one node
  std::int64_t node_group_ = 0;
  bool is_thread_multiple_ = false;  // any thread may call MPI
  shared_memory::Progress progress_;
  // between nodes, allocated beforehand: an agreement must not fail for lack of memory
  std::unique_ptr<BroadcastBuffer> broadcast_buffer_;
  std::optional<shared_memory::Segment> control_;
  std::optional<shared_memory::Group> group_;
  PeerLiveness* liveness_ = nullptr;  // owned by the group
  std::optional<Notices> notices_;
  std::optional<Leaders> leaders_;  // with several nodes, on the first process of each
  std::unique_ptr<shared_memory::Windows> windows_;
  std::optional<shared_memory::ExitRegistration> exit_registration_;
};

}  // namespace

void check_running() {
  check_not_forked();
  int started = 0;
  int ended = 0;
  if (MPI_Initialized(&started) != MPI_SUCCESS || started == 0 || MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0)
    base::throw_system_error(0, ended != 0 ? "MPI has ended; close files, and finish what is collective, before "
                                             "MPI_Finalize"
                                           : "MPI is not running; call MPI_Init first");
}

std::shared_ptr<Transport> make_transport(MPI_Comm communicator) {
  check_running();
  watch_finalize();
  shared_memory::leave_at_endings();
  return std::make_shared<MpiTransport>(communicator);
}

}  // namespace plait::transport::mpi
