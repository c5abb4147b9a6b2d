#include "transport/thread/team.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/memory/recycled.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "transport/counter.hpp"
#include "transport/shared_area.hpp"
#include "transport/shared_memory/group.hpp"
#include "transport/thread/call_board.hpp"

namespace plait::transport::thread {

namespace {

/// Threads of a process cannot end individually without the process.
class AlwaysAlive : public Liveness {
 public:
  void check() override {}
};

/// Memory for the team's control block, and for its windows.
///
/// A team lives for one access, so large windows are recycled: the system would clear fresh memory in each access, and
/// the allocator would cache a block in the arena of each thread.
std::shared_ptr<std::byte> allocate(std::int64_t bytes) {
  if (bytes >= base::kMinRecycled) {
    const auto block = std::make_shared<base::RecycledBlock>(bytes);
    return {block, block->data()};
  }
  constexpr auto kAlignment = std::align_val_t{64};
  auto* const memory = static_cast<std::byte*>(::operator new[](static_cast<std::size_t>(bytes), kAlignment));
  return {memory, [](std::byte* released) { ::operator delete[](released, kAlignment); }};
}

/// Creates an object for all workers; returns nullptr if there is no memory, so that all workers can throw.
template <typename Type, typename... Arguments>
std::shared_ptr<Type> make_or_null(Arguments&&... arguments) {
  try {
    return std::make_shared<Type>(std::forward<Arguments>(arguments)...);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// A message between threads: the receiver copies directly from the sender's memory, which must not change until then.
struct SentMessage {
  std::span<const std::byte> bytes;
  bool is_received = false;
};

/// The messages from one worker to another: the n-th receive() gets the message of the n-th send().
struct Channel {
  std::map<std::int64_t, std::shared_ptr<SentMessage>> messages;  // sent and not received, by their numbers
  std::int64_t sends = 0;
  std::int64_t receives = 0;
};

struct Channels {
  std::mutex mutex;  // protects all channels
  std::condition_variable changed;
  std::map<std::pair<int, int>, Channel> all;  // by sender and receiver
};

class SendTicket : public Ticket {
 public:
  SendTicket(Channels& channels, std::shared_ptr<SentMessage> message)
      : channels_(channels), message_(std::move(message)) {}
  void complete() override {
    std::unique_lock lock(channels_.mutex);
    channels_.changed.wait(lock, [this] { return message_->is_received; });
  }
  bool test() override {
    const std::scoped_lock lock(channels_.mutex);
    return message_->is_received;
  }

 private:
  Channels& channels_;
  std::shared_ptr<SentMessage> message_;
};

class ReceiveTicket : public Ticket {
 public:
  ReceiveTicket(Channels& channels, Channel& channel, std::int64_t number, std::span<std::byte> bytes)
      : channels_(channels), channel_(channel), number_(number), bytes_(bytes) {}
  void complete() override {
    std::unique_lock lock(channels_.mutex);
    channels_.changed.wait(lock, [this] { return channel_.messages.contains(number_); });
    copy_message();
  }
  bool test() override {
    const std::scoped_lock lock(channels_.mutex);
    if (!channel_.messages.contains(number_)) return false;
    copy_message();
    return true;
  }

 private:
  void copy_message() {
    const auto message = channel_.messages.extract(number_).mapped();
    if (!bytes_.empty()) std::memcpy(bytes_.data(), message->bytes.data(), bytes_.size());
    message->is_received = true;
    channels_.changed.notify_all();
  }

  Channels& channels_;
  Channel& channel_;
  std::int64_t number_;
  std::span<std::byte> bytes_;
};

/// The state that the threads of a team share.
struct Team {
  explicit Team(int workers)
      : size(workers),
        control(allocate(shared_memory::control_bytes(workers))),
        area_parts(static_cast<std::size_t>(workers)) {
    std::memset(control.get(), 0, static_cast<std::size_t>(shared_memory::control_bytes(workers)));
  }
  int size;
  std::shared_ptr<std::byte> control;
  std::shared_ptr<std::byte> windows;
  std::int64_t window_bytes = 0;
  std::exception_ptr windows_error;
  Channels channels;
  std::byte* area = nullptr;  // the area that is being created
  std::int64_t area_number = 0;
  std::vector<std::int64_t> area_parts;
  std::shared_ptr<std::atomic<std::int64_t>> counter;  // the counter that is being created
  std::shared_ptr<CallBoard> calls;                    // the board that is being created
};

class ThreadWindows : public SharedWindows {
 public:
  explicit ThreadWindows(Team& team) : team_(team) {}
  std::byte* part(int node_rank) const override { return team_.windows.get() + node_rank * team_.window_bytes; }
  std::int64_t bytes() const override { return team_.window_bytes; }

 private:
  Team& team_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Team> team, int rank)
      : team_(std::move(team)),
        group_(team_->control.get(), rank, team_->size, std::make_unique<AlwaysAlive>()),
        windows_(*team_) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  int node_rank() const override { return group_.rank(); }
  int node_size() const override { return group_.size(); }
  int worker_on_node(int node_rank) const override { return node_rank; }
  int rank_on_node(int worker) const override { return worker; }

  SharedWindows& windows(std::int64_t bytes) override {
    if (bytes <= capacity_) return windows_;
    capacity_ = (bytes + 63) / 64 * 64;
    group_.barrier();
    if (group_.rank() == 0) {
      team_->window_bytes = capacity_;
      team_->windows = nullptr;
      try {
        team_->windows = allocate(capacity_ * group_.size());
      } catch (...) {
        team_->windows_error = std::current_exception();
      }
    }
    group_.barrier();
    if (!team_->windows) {
      capacity_ = 0;
      std::rethrow_exception(team_->windows_error);
    }
    return windows_;
  }
  Gates& gates() override { return group_; }

  std::unique_ptr<SharedPart> share(std::int64_t bytes) override {
    const auto own_index = static_cast<std::size_t>(group_.rank());
    const std::int64_t rounded = (bytes + kAreaPage - 1) / kAreaPage * kAreaPage;
    team_->area_parts[own_index] = rounded;
    group_.barrier();
    std::int64_t total = kAreaPage;   // the page of the header
    std::int64_t offset = kAreaPage;  // of this worker's part
    for (std::size_t i = 0; i < team_->area_parts.size(); ++i) {
      total += team_->area_parts[i];
      if (i < own_index) offset += team_->area_parts[i];
    }
    if (own_index == 0) {
      void* memory =
          ::mmap(nullptr, static_cast<std::size_t>(total), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      team_->area = memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
      team_->area_number = new_area_number();
      if (team_->area != nullptr) register_area(team_->area_number, node_group(), team_->area, total, group_.size());
    }
    group_.barrier();
    std::byte* const area = team_->area;
    const std::int64_t number = team_->area_number;
    group_.barrier();
    if (area == nullptr) base::throw_system_error(ENOMEM, "no memory for arrays of ", base::bytes_text(total));
    return std::make_unique<SharedPart>(number, area + offset, bytes);
  }
  std::int64_t node_group() const override { return static_cast<std::int64_t>(::getpid()); }
  bool one_process() const override { return true; }
  std::span<std::byte> note(int node_rank) override { return group_.note(node_rank); }

  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) override {
    auto message = std::make_shared<SentMessage>();
    message->bytes = bytes;
    auto ticket = std::make_unique<SendTicket>(team_->channels, message);
    const std::scoped_lock lock(team_->channels.mutex);
    Channel& channel = team_->channels.all[{rank(), to}];
    channel.messages.emplace(channel.sends, std::move(message));
    ++channel.sends;
    team_->channels.changed.notify_all();
    return ticket;
  }
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) override {
    const std::scoped_lock lock(team_->channels.mutex);
    Channel& channel = team_->channels.all[{from, rank()}];
    auto ticket = std::make_unique<ReceiveTicket>(team_->channels, channel, channel.receives, bytes);
    ++channel.receives;
    return ticket;
  }

  void reduce_min(std::span<std::int64_t> values) override { group_.reduce_min(values); }
  void broadcast(std::span<std::byte> bytes, int root) override { group_.broadcast(bytes, root); }
  void broadcast_to_nodes(std::span<std::byte>) override {}

  std::unique_ptr<Counter> counter() override {
    if (group_.rank() == 0) team_->counter = make_or_null<std::atomic<std::int64_t>>(0);
    group_.barrier();
    auto counter = team_->counter;
    group_.barrier();
    if (!counter) throw std::bad_alloc();
    return std::make_unique<MemoryCounter>(*counter, counter);
  }

  std::shared_ptr<ActiveMessages> active(std::shared_ptr<CallService> service) override {
    if (group_.rank() == 0) team_->calls = make_or_null<CallBoard>(group_.size());
    group_.barrier();
    if (!team_->calls) throw std::bad_alloc();
    auto active = join_board(team_->calls, group_.rank(), std::move(service));
    group_.barrier();
    return active;
  }

 private:
  std::shared_ptr<Team> team_;
  shared_memory::Group group_;
  ThreadWindows windows_;
  std::int64_t capacity_ = 0;
};

}  // namespace

void run_team(int workers, const std::function<void(Transport&)>& body) {
  auto team = std::make_shared<Team>(workers);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(workers));
  const auto work = [&](int rank) {
    try {
      ThreadTransport transport(team, rank);
      body(transport);
    } catch (...) {
      errors[static_cast<std::size_t>(rank)] = std::current_exception();
    }
  };
  // No worker begins before all threads exist: if a thread cannot be started, the others must not wait for it.
  std::promise<bool> all_started;
  std::shared_future<bool> begin = all_started.get_future().share();
  std::vector<std::thread> threads;
  std::exception_ptr failure;
  try {
    for (int rank = 1; rank < workers; ++rank)
      threads.emplace_back([&work, begin, rank] {
        if (begin.get()) work(rank);
      });
  } catch (...) {
    failure = std::current_exception();
  }
  all_started.set_value(!failure);
  if (!failure) work(0);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

std::unique_ptr<Transport> make_alone() { return std::make_unique<ThreadTransport>(std::make_shared<Team>(1), 0); }

}  // namespace plait::transport::thread
