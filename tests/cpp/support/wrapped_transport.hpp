// Transports of threads that add delays, or behave as if the threads were processes or were on several nodes.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "plait/index_set.hpp"
#include "transport/active_messages.hpp"
#include "transport/counter.hpp"
#include "transport/gates.hpp"
#include "transport/shared_area.hpp"
#include "transport/transport.hpp"

namespace wrapped {

using plait::transport::Gates;
using plait::transport::Liveness;
using plait::transport::SharedPart;
using plait::transport::SharedWindows;
using plait::transport::Slot;
using plait::transport::Ticket;
using plait::transport::Transport;

/// Forwards every call to another transport.
class WrappedTransport : public Transport {
 public:
  explicit WrappedTransport(Transport& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  int node_rank() const override { return inner_.node_rank(); }
  int node_size() const override { return inner_.node_size(); }
  int worker_on_node(int node_rank) const override { return inner_.worker_on_node(node_rank); }
  int rank_on_node(int worker) const override { return inner_.rank_on_node(worker); }
  std::shared_ptr<const std::vector<plait::IndexSet>> nodes() const override { return inner_.nodes(); }
  SharedWindows& windows(std::int64_t bytes) override { return inner_.windows(bytes); }
  Gates& gates() override { return inner_.gates(); }
  std::unique_ptr<SharedPart> share(std::int64_t bytes) override { return inner_.share(bytes); }
  std::int64_t node_group() const override { return inner_.node_group(); }
  bool one_process() const override { return inner_.one_process(); }
  std::span<std::byte> note(int node_rank) override { return inner_.note(node_rank); }
  std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) override { return inner_.send(to, bytes); }
  std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) override { return inner_.receive(from, bytes); }
  void reduce_min(std::span<std::int64_t> values) override { inner_.reduce_min(values); }
  void broadcast(std::span<std::byte> bytes, int root) override { inner_.broadcast(bytes, root); }
  void broadcast_to_nodes(std::span<std::byte> bytes) override { inner_.broadcast_to_nodes(bytes); }
  std::unique_ptr<plait::transport::Counter> counter() override { return inner_.counter(); }
  std::shared_ptr<plait::transport::ActiveMessages> active(
      std::shared_ptr<plait::transport::CallService> service) override {
    return inner_.active(std::move(service));
  }

 protected:
  Transport& inner_;
};

/// Makes threads behave like processes: they access no memory of each other except shared memory and windows.
class LikeProcesses : public WrappedTransport {
 public:
  using WrappedTransport::WrappedTransport;
  bool one_process() const override { return false; }
};

/// Gates whose slots a function selects; `first` is the rank that the first worker of this node has in `inner`.
class WrappedGates : public Gates {
 public:
  using FindSlot = std::function<Slot&(int node_rank, int index)>;
  WrappedGates(Gates& inner, FindSlot find, int first = 0) : inner_(inner), find_(std::move(find)), first_(first) {}
  Slot& slot(int node_rank, int index) override { return find_(node_rank, index); }
  Liveness& liveness() override { return inner_.liveness(); }
  std::span<std::atomic<std::int64_t>> marks(int node_rank) override { return inner_.marks(first_ + node_rank); }

 private:
  Gates& inner_;
  FindSlot find_;
  int first_;
};

/// Calls `delay(peer)` before each access of its worker to a slot of `peer`.
class DelayedTransport : public WrappedTransport {
 public:
  DelayedTransport(Transport& inner, std::function<void(int)> delay)
      : WrappedTransport(inner),
        delay_(std::move(delay)),
        gates_(inner.gates(), [this](int node_rank, int index) -> Slot& {
          delay_(node_rank);
          return inner_.gates().slot(node_rank, index);
        }) {}
  Gates& gates() override { return gates_; }

 private:
  std::function<void(int)> delay_;
  WrappedGates gates_;
};

/// Splits the workers of a team into nodes of at most `max_per_node` workers.
class SeveralNodes : public WrappedTransport {
 public:
  SeveralNodes(Transport& inner, int max_per_node)
      : WrappedTransport(inner),
        max_per_node_(max_per_node),
        first_(inner.rank() / max_per_node * max_per_node),
        node_size_(std::min(max_per_node, inner.size() - first_)),
        windows_(*this),
        gates_(
            inner.gates(),
            [this](int node_rank, int index) -> Slot& { return inner_.gates().slot(first_ + node_rank, index); },
            first_) {}
  int node_rank() const override { return inner_.rank() - first_; }
  int node_size() const override { return node_size_; }
  int worker_on_node(int node_rank) const override { return first_ + node_rank; }
  int rank_on_node(int worker) const override {
    return worker >= first_ && worker < first_ + node_size_ ? worker - first_ : -1;
  }
  std::shared_ptr<const std::vector<plait::IndexSet>> nodes() const override {
    if (node_size_ == inner_.size()) return nullptr;
    auto nodes = std::make_shared<std::vector<plait::IndexSet>>();
    for (int first = 0; first < inner_.size(); first += max_per_node_)
      nodes->push_back(plait::IndexSet::range(first, std::min(first + max_per_node_, inner_.size())));
    return nodes;
  }
  SharedWindows& windows(std::int64_t bytes) override {
    windows_.all = &inner_.windows(bytes);
    return windows_;
  }
  Gates& gates() override { return gates_; }
  std::span<std::byte> note(int node_rank) override { return inner_.note(first_ + node_rank); }
  void broadcast_to_nodes(std::span<std::byte> bytes) override {
    const auto complete = [](auto&& start) { retry_allocation(start)->complete(); };
    if (first_ != 0) return complete([&] { return inner_.receive(0, bytes); });
    for (int leader = node_size_; leader < inner_.size(); leader += node_size_)
      complete([&] { return inner_.send(leader, bytes); });
  }

 private:
  /// Repeats `start` until it gets memory, because MPI would not use operator new here, whose failures tests simulate.
  template <typename Start>
  static std::unique_ptr<Ticket> retry_allocation(Start&& start) {
    while (true) {
      try {
        return start();
      } catch (const std::bad_alloc&) {
        continue;
      }
    }
  }

  struct NodeWindows : SharedWindows {
    explicit NodeWindows(const SeveralNodes& owner) : node(owner) {}
    std::byte* part(int node_rank) const override { return all->part(node.first_ + node_rank); }
    std::int64_t bytes() const override { return all->bytes(); }
    const SeveralNodes& node;
    SharedWindows* all = nullptr;
  };

  int max_per_node_;
  int first_;  // the rank of this node's first worker
  int node_size_;
  NodeWindows windows_;
  WrappedGates gates_;
};

}  // namespace wrapped
