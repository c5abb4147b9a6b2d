#include "transport/local/local_transport.hpp"

#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "transport/counter.hpp"
#include "transport/ending.hpp"
#include "transport/local/mailboxes.hpp"
#include "transport/local/peers.hpp"
#include "transport/local/rendezvous.hpp"
#include "transport/losses.hpp"
#include "transport/native/active/native_active.hpp"
#include "transport/shared_memory/group_meeting.hpp"
#include "transport/shared_memory/peers.hpp"
#include "transport/shared_memory/process_exit.hpp"
#include "transport/shared_memory/segment.hpp"
#include "transport/shared_memory/windows.hpp"

namespace plait::transport::local {

namespace {

/// The memory that the processes share in addition to windows and arrays: the control block of a group
/// (shared_memory/group.hpp), followed by the mailboxes (mailboxes.hpp).
struct SharedSegment {
  static std::int64_t bytes(int size) {
    return shared_memory::control_bytes(size) + static_cast<std::int64_t>(sizeof(Mailbox)) * size;
  }
  SharedSegment(std::byte* memory, int size)
      : control(memory), mailboxes(reinterpret_cast<Mailbox*>(memory + shared_memory::control_bytes(size))) {}
  std::byte* control;
  Mailbox* mailboxes;
};

std::int64_t hash_processes(const std::vector<shared_memory::ProcessIdentity>& processes) {
  std::vector<std::int64_t> numbers;
  for (const shared_memory::ProcessIdentity& process : processes)
    numbers.insert(numbers.end(), {process.number, process.started});
  return shared_memory::hash_numbers(numbers);
}

class LocalTransport : public Transport, public shared_memory::GroupMeeting, public shared_memory::ExitListener {
 public:
  LocalTransport(const Job& job, std::chrono::duration<double> timeout) : rank_(job.rank), size_(job.size) {
    Rendezvous others(job, timeout);
    node_group_ = hash_processes(others.processes());
    memory_.emplace(others, SharedSegment::bytes(size_));
    const SharedSegment shared(memory_->data(), size_);
    group_.emplace(shared.control, rank_, size_,
                   std::make_unique<PeerLiveness>(shared_memory::find_departures(shared.control, size_), rank_,
                                                  progress_, shared_memory::watch(others.processes())));
    mailboxes_.emplace(shared.mailboxes, rank_, group_->liveness());
    exit_registration_.emplace(*this);
  }
  ~LocalTransport() override {
    attachment() = nullptr;  // first, because the attached object uses the other members
    exit_registration_.reset();
    leave();
  }
  LocalTransport(const LocalTransport&) = delete;
  LocalTransport& operator=(const LocalTransport&) = delete;

  /// Reports how many agreements this process has made.  One that is under way does not count: if a signal handler or
  /// another thread ends the process during an agreement, the process may not have contributed to it completely.
  void leave() noexcept final { shared_memory::record_departure(group_->departure(), rank_, progress_.ended()); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node_rank() const override { return rank_; }
  int node_size() const override { return size_; }
  int worker_on_node(int node_rank) const override { return node_rank; }
  int rank_on_node(int worker) const override { return worker; }

  SharedWindows& windows(std::int64_t bytes) override { return shared_memory::ensure_windows(windows_, *this, bytes); }
  Gates& gates() override { return *group_; }
  std::unique_ptr<SharedPart> share(std::int64_t bytes) override {
    return shared_memory::share(*this, bytes, node_group_);
  }
  std::int64_t node_group() const override { return node_group_; }
  std::span<std::byte> note(int node_rank) override { return group_->note(node_rank); }

  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) override {
    return mailboxes_->send(to, bytes);
  }
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) override {
    return mailboxes_->receive(from, bytes);
  }

  void reduce_min(std::span<std::int64_t> values) override {
    const shared_memory::AgreementScope inside(progress_);
    group().reduce_min(values);
  }
  void broadcast(std::span<std::byte> bytes, int root) override {
    const shared_memory::AgreementScope inside(progress_);
    group().broadcast(bytes, root);
  }
  void broadcast_to_nodes(std::span<std::byte>) override {}

  bool ends_alone() const override { return true; }

  std::unique_ptr<Counter> counter() override { return shared_memory::make_counter(*this); }

  std::shared_ptr<ActiveMessages> active(std::shared_ptr<CallService> service) override {
    // No Losses: workers that wait check the processes themselves.
    return native::make_native_active(*this, std::move(service), nullptr);
  }

 private:
  /// Returns the group; also called through GroupMeeting when shared objects are created.
  /// errors  kSystem: this process has been interrupted in a call, or has left.
  shared_memory::Group& group() override {
    shared_memory::DepartureRecord own;
    if (group_->departure().load(own)) shared_memory::check(own, progress_);
    return *group_;
  }

  int rank_;
  int size_;
  std::int64_t node_group_ = 0;
  shared_memory::Progress progress_;
  std::optional<shared_memory::Segment> memory_;
  std::optional<shared_memory::Group> group_;
  std::optional<Mailboxes> mailboxes_;
  std::unique_ptr<shared_memory::Windows> windows_;
  std::optional<shared_memory::ExitRegistration> exit_registration_;
};

/// Registers callbacks once in each process that takes part in a job.  They do not run in its children.
void register_exit_callbacks() {
  static base::PerProcess<std::once_flag> watched;
  std::call_once(watched.get(), [] {
    shared_memory::leave_at_endings();
    std::atexit(run_endings);
  });
}

}  // namespace

std::shared_ptr<Transport> make_transport(const Job& job, std::chrono::duration<double> timeout) {
  register_exit_callbacks();
  return base::make_owned<LocalTransport>(job, timeout);
}

}  // namespace plait::transport::local
