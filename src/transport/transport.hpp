/// What carries data and agreements between the workers of a collective: one interface, one folder a kind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "plait/index_set.hpp"
#include "transport/gates.hpp"
#include "transport/given_up.hpp"
#include "transport/peer_memory.hpp"

namespace plait::transport {

/// A message on its way.  Each is completed exactly once, in any order; its bytes stay untouched until then.
class Ticket {
 public:
  virtual ~Ticket() = default;
  /// Waits for the message.  errors  kSystem: the message could not be carried.
  virtual void complete() = 0;
  /// Moves it on without waiting, and tells whether it has come; one that has is complete.  errors  As complete().
  virtual bool test() = 0;
};

/// Memory that all workers of one node see: an equal part for each of them.
class SharedWindows {
 public:
  virtual ~SharedWindows() = default;
  /// The part of a peer, by its rank on the node.
  virtual std::byte* part(int node_rank) const = 0;
  virtual std::int64_t bytes() const = 0;
};

class Active;
class CallService;
class Counter;
class SharedPart;

/// One worker's end.  Collective calls are made by all workers in one order.
/// threads  One thread at a time for each end.
class Transport {
 public:
  virtual ~Transport() = default;

  /// A number for what is opened next on this transport, the same on every worker.
  std::int64_t next_number() { return ++numbers_; }
  /// The numbers of what some worker has given up: nobody waits for anybody on these any more.
  GivenUp& given_up() { return given_up_; }

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Workers that share memory form a node; `node_rank` counts them from 0.
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;
  /// The worker with a rank on this node, and the rank of a worker on this node: -1 where it is on another node.
  virtual int worker_on_node(int node_rank) const = 0;
  virtual int node_rank_of(int worker) const = 0;
  bool nodes_apart() const { return node_size() != size(); }
  /// The ranks of each node, in order of their first ones, the same on every worker; null where all are on one.
  virtual std::shared_ptr<const std::vector<IndexSet>> nodes() const { return nullptr; }

  /// Windows of at least `bytes` for each worker, kept for the next call.  Collective over all workers.
  /// errors  kSystem, on every worker: a node has no room for them.
  virtual SharedWindows& windows(std::int64_t bytes) = 0;
  /// The counters on which workers of the node wait for each other.
  virtual Gates& gates() = 0;

  /// A new part of memory that all workers of the node see, for a local array: at least `bytes` bytes, each worker its
  /// own number, on large pages where the system gives them.  Collective over all workers.
  /// errors  kSystem, on every worker: a node has no room for them.
  virtual std::unique_ptr<SharedPart> share(std::int64_t bytes) = 0;
  /// Names the processes of this node, the same on each of them: memory of a SharedAddress's group is in reach of all.
  virtual std::int64_t node_group() const = 0;
  /// Whether the workers of the node are threads of one process, which see all memory of each other.
  virtual bool one_process() const { return false; }

  /// A few bytes of each worker that the node may read between two agreements.
  static constexpr int kNoteBytes = 1024;
  virtual std::span<std::byte> note(int node_rank) = 0;

  /// Starts a message; messages between two workers arrive in the order in which they were started.
  /// errors  std::bad_alloc: nothing was started, and the call may be made again.
  virtual std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) = 0;

  /// Waits until `done` says so, which tests messages that are under way.
  /// errors  kSystem: a worker has left or been lost; what `done` throws.
  virtual void await(base::FunctionRef<bool()> done) { poll_until(done, gates().liveness()); }

  /// Whether a wait for messages has been given up, as a process has left: memory that was passed must stay.
  virtual bool messages_abandoned() const { return false; }

  /// Each value becomes the smallest that any worker gave.  Collective; at most kMostValues values.
  static constexpr int kMostValues = 8;
  virtual void reduce_min(std::span<std::int64_t> values) = 0;
  /// Everyone gets the bytes of `root`.  Collective; at most kMostBroadcast bytes.
  static constexpr int kMostBroadcast = 8192;
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Hands bytes of worker 0 to the worker of rank 0 of every other node, by a tree or a pipeline.  Collective over
  /// the workers of rank 0; any number of bytes.
  virtual void broadcast_to_nodes(std::span<std::byte> bytes) = 0;

  /// A new counter, 0 at first.  Collective over all workers; letting it go is not.
  /// errors  kSystem, on every worker: a node has no room for it.  kArgument: it would lie between nodes, where MPI
  ///         runs below MPI_THREAD_MULTIPLE.
  virtual std::unique_ptr<Counter> counter() = 0;

  /// A new end for active messages (active.hpp), which `service` serves until it is stopped.  Collective over all
  /// workers.
  /// errors  kSystem, on every worker: no thread, no socket, no memory.
  virtual std::shared_ptr<Active> active(std::shared_ptr<CallService> service) = 0;
  /// Whether collective calls may be carried out on a thread of their own while the program goes on; else they are to
  /// end where they are called.
  virtual bool background() const { return true; }
  /// Whether a process may end while one of its threads is inside a collective call: the others are told.
  virtual bool ends_alone() const { return false; }
  /// Agreements that have failed, the same on every worker between two of them: what each worker remembers of earlier
  /// calls is the same on all of them only as long as all have made the same calls, so they forget it then.
  std::int64_t failures() const { return failures_; }
  void count_failure() { ++failures_; }
  /// What workers of the node can read of each other's own memory.
  PeerMemory& peer_memory() { return peer_memory_; }
  /// What a layer above keeps with the transport: it goes with it.
  std::shared_ptr<void>& kept() { return kept_; }

 private:
  std::shared_ptr<void> kept_;
  std::atomic<std::int64_t> numbers_{0};  // files of a process that is alone are opened by any thread
  GivenUp given_up_;
  PeerMemory peer_memory_;
  std::int64_t failures_ = 0;
};

}  // namespace plait::transport
