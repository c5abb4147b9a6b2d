/// The steps of a pipe in the memory of one process of the writer.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "copy/local_array.hpp"
#include "exchange/message.hpp"
#include "pipe/messages.hpp"
#include "pipe/slot_memory.hpp"
#include "pipe/step_description.hpp"
#include "plait/layout.hpp"

namespace plait::pipe {

/// Each slot holds the local arrays of one step, in dense form and with their halos.
///
/// memory   For each slot the bytes of this process's local arrays of the largest step so far, rounded up.
/// threads  The program's thread writes the begun step; the server's thread reads published steps, which are not
///          written before their readers are done.
class StepStore {
 public:
  /// process: number of the process if it holds only the rank of that number; -1 if a single process holds all ranks.
  StepStore(int slots, std::int64_t process);

  /// Begins to write a step into a slot, whose previous step is discarded.
  void begin(std::int64_t step, int slot);
  /// Copies an array into the begun step.  errors  kSystem: no memory.
  void add(const Layout& layout, std::int64_t element_bytes, std::span<const copy::LocalArray> arrays);

  /// Returns the descriptor of a slot's memory; -1 if the slot does not exist or has no memory.
  int descriptor(int slot) const;
  /// The elements of a request, packed in the order of the reader's local array.
  class Message {
   public:
    std::int64_t bytes() const;

   private:
    friend class StepStore;
    void pack(std::int64_t offset, std::span<std::byte> into) const;

    std::int64_t step_ = 0;
    int slot_ = 0;
    std::shared_ptr<const exchange::PackedMessage> packed_;
    copy::LocalArray source_;
    std::int64_t element_bytes_ = 1;
  };
  /// Prepares the answer to a request.
  /// errors  kArgument: no such array or rank.  kSystem, ESTALE: the step is not held any more.
  Message find(const ElementRequest& request);
  /// Fills `into` with the bytes of a message from `offset` on.  Returns false if the step is no longer held, because
  /// the reader was dropped.
  bool pack(const Message& message, std::int64_t offset, std::span<std::byte> into);

 private:
  struct Slot {
    SlotMemory memory;
    std::int64_t step = -1;
    std::vector<std::pair<Layout, std::int64_t>> arrays;  // each with the bytes of an element
    std::optional<Placement> placement;
  };
  /// The packing of the elements of a request.
  struct CachedPlan {
    std::string key;
    std::shared_ptr<const exchange::PackedMessage> packed;
  };
  static constexpr std::size_t kMaxPlans = 64;
  /// The local array of a request's sender in its slot.
  struct StoredArray {
    Layout layout;
    std::int64_t element_bytes = 0;
    copy::LocalArray from;
  };
  StoredArray find_array(const ElementRequest& request) const;
  /// Returns the packing for a request: a cached one, or a new one.
  std::shared_ptr<const exchange::PackedMessage> plan(const Layout& source, const ElementRequest& request,
                                                      std::int64_t element_bytes);

  const std::int64_t process_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  int begun_slot_ = -1;  // the slot of the step that is being written
  std::mutex plans_mutex_;
  std::list<CachedPlan> plans_;  // most recently used first
};

/// Describes the local array of a rank that is stored at `data` without gaps between its elements.
copy::LocalArray dense_array(const Layout& layout, std::int64_t rank, std::byte* data, std::int64_t element_bytes);

}  // namespace plait::pipe
