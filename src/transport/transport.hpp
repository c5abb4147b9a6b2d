/// The interface for data and agreements between the workers of a collective; each kind of worker has its own folder.
///
/// A *worker* is a rank: an MPI process, a process that was started without MPI, or a thread.  Workers that share
/// memory form a *node*.  An *agreement* is a reduce_min() or broadcast(), in which all workers take part in the same
/// order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "plait/index_set.hpp"
#include "transport/abandoned_numbers.hpp"
#include "transport/gates.hpp"
#include "transport/peer_memory.hpp"

namespace plait::transport {

/// A message under way.  Each ticket is completed exactly once, by complete() or a test() that returns true, in any
/// order; the bytes of the message must stay unchanged until then.
class Ticket {
 public:
  virtual ~Ticket() = default;
  /// Waits for the message.
  /// errors  kSystem: the message could not be delivered.
  virtual void complete() = 0;
  /// Makes progress without waiting, and returns true if the message is complete.
  /// errors  As complete().
  virtual bool test() = 0;
};

/// Memory that all workers of one node share, in parts of equal size: one for each worker.
class SharedWindows {
 public:
  virtual ~SharedWindows() = default;
  /// Returns the part of the worker with this rank on the node.
  virtual std::byte* part(int node_rank) const = 0;
  /// Returns the size of one part.
  virtual std::int64_t bytes() const = 0;
};

class ActiveMessages;
class CallService;
class Counter;
class SharedPart;

/// The transport of one worker.  Collective calls are made by all workers in the same order.
/// threads  One thread at a time for each worker.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Returns a number for the next object that is opened on this transport, the same on every worker.
  std::int64_t next_number() { return ++numbers_; }
  /// Returns the numbers of objects that some worker has abandoned: no worker waits for others on these objects any
  /// more.
  AbandonedNumbers& abandoned_numbers() { return abandoned_numbers_; }

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Returns the rank of this worker among those of its node, from 0.
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;
  /// Returns the worker with a rank on this node.
  virtual int worker_on_node(int node_rank) const = 0;
  /// Returns the rank of a worker on this node, or -1 if the worker is on another node.
  virtual int rank_on_node(int worker) const = 0;
  /// Returns true if there are several nodes.
  bool nodes_apart() const { return node_size() != size(); }
  /// Returns the ranks of each node, ordered by their first ranks, the same on every worker; null if all are on one
  /// node.
  virtual std::shared_ptr<const std::vector<IndexSet>> nodes() const { return nullptr; }

  /// Returns shared windows of at least `bytes` bytes for each worker.  Later calls return the same memory, or replace
  /// it by larger windows.  Collective over all workers.
  /// errors  kSystem, on every worker: a node has no memory for them.
  virtual SharedWindows& windows(std::int64_t bytes) = 0;
  /// Returns the counters on which workers of the node wait for each other (gates.hpp).
  virtual Gates& gates() = 0;

  /// Returns a new part of memory that all workers of the node share, for a local array: at least `bytes` bytes, which
  /// may differ between workers, on large pages if the system provides them.  Collective over all workers.
  /// errors  kSystem, on every worker: a node has no memory for them.
  virtual std::unique_ptr<SharedPart> share(std::int64_t bytes) = 0;
  /// Returns a number that identifies the set of this node's processes: all of them can access the memory of a
  /// SharedAddress with this group.
  virtual std::int64_t node_group() const = 0;
  /// Returns true if the workers of the node are threads of one process, which can access all memory of each other.
  virtual bool one_process() const { return false; }

  /// Returns the note of a worker: a few bytes that only this worker writes, and that all workers of the node may read
  /// between the agreement after the write and the next agreement.
  static constexpr int kNoteBytes = 1024;
  virtual std::span<std::byte> note(int node_rank) = 0;

  /// Starts to send or receive a message; messages between two workers arrive in the order in which they were started.
  /// errors  std::bad_alloc: nothing was started, and the call may be repeated.
  virtual std::unique_ptr<Ticket> send(int to, std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Ticket> receive(int from, std::span<std::byte> bytes) = 0;

  /// Waits until `done`, which tests messages under way, returns true.
  /// errors  kSystem: a worker has left or been lost; exceptions of `done`.
  virtual void await(base::FunctionRef<bool()> done) { poll_until(done, gates().liveness()); }

  /// Returns true if a wait for messages was abandoned because a process has left: the memory of these messages must
  /// not be freed.
  virtual bool messages_abandoned() const { return false; }

  /// Each value becomes the smallest value that any worker has passed.  Collective; at most kMaxValues values.
  static constexpr int kMaxValues = 8;
  virtual void reduce_min(std::span<std::int64_t> values) = 0;
  /// Copies the bytes of `root` to all workers.  Collective; at most kMaxBroadcast bytes.
  static constexpr int kMaxBroadcast = 8192;
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Copies bytes of worker 0 to the worker of rank 0 of every other node, by a tree or a pipeline.  Collective over
  /// the workers of rank 0; any number of bytes.
  virtual void broadcast_to_nodes(std::span<std::byte> bytes) = 0;

  /// Returns a new counter with the value 0.  Collective over all workers; its destruction is not.
  /// errors  kSystem, on every worker: a node has no memory for it.  kArgument: it would be shared between nodes, and
  ///         MPI runs below MPI_THREAD_MULTIPLE.
  virtual std::unique_ptr<Counter> counter() = 0;

  /// Returns a new object for active messages (active_messages.hpp), which `service` serves until it is stopped.
  /// Collective over all workers.
  /// errors  kSystem, on every worker: no thread, no socket, no memory.
  virtual std::shared_ptr<ActiveMessages> active(std::shared_ptr<CallService> service) = 0;
  /// Returns true if collective calls may run on a background thread while the program continues; otherwise they must
  /// end before the function that the program has called returns.
  virtual bool background() const { return true; }
  /// Returns true if a process may end while one of its threads is in a collective call; the others are then notified.
  virtual bool ends_alone() const { return false; }
  /// Returns the number of failed agreements, the same on every worker between two agreements.  Workers discard their
  /// caches of earlier calls when it changes: the caches agree only if all workers have completed the same calls.
  std::int64_t failures() const { return failures_; }
  void count_failure() { ++failures_; }
  /// Returns the access to the private memory of other workers of the node.
  PeerMemory& peer_memory() { return peer_memory_; }
  /// Returns a pointer that a layer above may set to an object of its own, such as the service of distant files; the
  /// transport destroys that object.
  std::shared_ptr<void>& attachment() { return attachment_; }

 private:
  std::shared_ptr<void> attachment_;
  std::atomic<std::int64_t> numbers_{0};  // atomic: on a communicator of one process, any thread may open files
  AbandonedNumbers abandoned_numbers_;
  PeerMemory peer_memory_;
  std::int64_t failures_ = 0;
};

}  // namespace plait::transport
