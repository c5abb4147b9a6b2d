#include "transport/thread/call_board.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "base/wait/retry_allocation.hpp"

namespace plait::transport::thread {

namespace {

class ThreadActive : public ActiveMessages {
 public:
  ThreadActive(std::shared_ptr<CallBoard> board, int rank, std::shared_ptr<CallService> service)
      : board_(std::move(board)), rank_(rank) {
    board_->services[static_cast<std::size_t>(rank)] = std::move(service);
    board_->workers[static_cast<std::size_t>(rank)] = this;
    thread_ = std::thread([this] { own_queue().run(); });
  }
  ~ThreadActive() override { stop(); }
  ThreadActive(const ThreadActive&) = delete;
  ThreadActive& operator=(const ThreadActive&) = delete;

  void call(Call call) override {
    const int to = call.to;
    auto pending = std::make_shared<Call>(std::move(call));
    Arrival arrival{rank_, reinterpret_cast<std::uintptr_t>(pending.get()), pending->head,
                    static_cast<std::int64_t>(pending->payload.size()),
                    static_cast<std::int64_t>(pending->output.size())};
    auto& open = open_calls();
    {
      const std::scoped_lock lock(open.mutex);
      open.pending_calls.emplace(arrival.id, pending);
    }
    try {
      if (!post(to, arrival)) fail(arrival.id, make_left_failure(to));
    } catch (...) {
      // The call has not begun, so its `done` must not be called, unless the other worker, which is stopping, has
      // called it already.
      if (extract(arrival.id)) throw;
    }
  }
  void poll_answers_until(base::FunctionRef<bool()>) override {}  // the handler threads answer

  void receive_payload(const Arrival& arrival, std::span<std::byte> into, std::function<void(bool)> done) override {
    const auto pending = find(arrival.id);
    if (pending && !into.empty()) std::memcpy(into.data(), pending->payload.data(), into.size());
    if (!own_queue().put([done, complete = pending != nullptr] { done(complete); })) done(false);
  }
  void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) override {
    if (const auto pending = extract(arrival.id)) {
      if (!data.empty()) std::memcpy(pending->output.data(), data.data(), data.size());
      pending->done(nullptr);
    }
    sent();
  }
  void reject(const Arrival& arrival, const CallFailure& failure) override { fail(arrival.id, failure); }

  void stop() noexcept override {
    own_queue().close();
    if (thread_.joinable()) thread_.join();
    // Calls that this worker has not answered fail.
    while (const auto unanswered = extract_own()) {
      const CallFailure failure = make_left_failure(rank_);
      unanswered->done(&failure);
    }
  }

 private:
  OpenCalls& open_calls() { return board_->open; }
  std::shared_ptr<Call> find(std::uint64_t id) {
    const std::scoped_lock lock(open_calls().mutex);
    const auto found = open_calls().pending_calls.find(id);
    return found == open_calls().pending_calls.end() ? nullptr : found->second;
  }
  std::shared_ptr<Call> extract(std::uint64_t id) {
    const std::scoped_lock lock(open_calls().mutex);
    const auto found = open_calls().pending_calls.extract(id);
    return found.empty() ? nullptr : found.mapped();
  }
  /// Removes and returns a call that this worker has not answered.
  std::shared_ptr<Call> extract_own() {
    const std::scoped_lock lock(open_calls().mutex);
    auto& pending = open_calls().pending_calls;
    const auto found = std::ranges::find_if(pending, [this](const auto& entry) { return entry.second->to == rank_; });
    return found == pending.end() ? nullptr : pending.extract(found).mapped();
  }
  /// Passes a call to the handler thread of the worker that serves it.  Returns false if that worker has stopped.
  bool post(int to, const Arrival& arrival) {
    const auto target = static_cast<std::size_t>(to);
    CallBoard& board = *board_;
    return board.queues[target].put(
        [&board, target, arrival] { board.services[target]->on_call(*board.workers[target], arrival); });
  }
  static CallFailure make_left_failure(int worker) {
    return base::retry_allocation("say that a rank has left", [&] {
      return CallFailure{ErrorKind::kSystem, EOWNERDEAD,
                         base::text("rank ", worker, " has left; nothing of it can be reached")};
    });
  }
  void fail(std::uint64_t id, const CallFailure& failure) {
    if (const auto pending = extract(id)) pending->done(&failure);
  }
  base::TaskQueue& own_queue() { return board_->queues[static_cast<std::size_t>(rank_)]; }

  std::shared_ptr<CallBoard> board_;
  int rank_;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<ActiveMessages> join_board(std::shared_ptr<CallBoard> board, int rank,
                                           std::shared_ptr<CallService> service) {
  return std::make_shared<ThreadActive>(std::move(board), rank, std::move(service));
}

}  // namespace plait::transport::thread
