/// The source of a File: the store or the channel that it is open on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collective/collective.hpp"
#include "core/file/channel.hpp"
#include "store/store.hpp"

namespace plait::core {

/// One rank's end of a store or channel that all ranks have open.  Its destruction without finish() discards a new
/// store, and does not wait for other ranks.
class Source {
 public:
  virtual ~Source() = default;
  /// Returns the store, which resize() may replace by another one; nullptr if the source is a channel.
  virtual std::shared_ptr<store::Store> store() const = 0;
  /// Extends a new store that does not grow by being written.  Collective.  errors  kSystem, the same on every rank.
  virtual void resize(collective::Collective& call, std::int64_t bytes) = 0;
  /// Throws if the name of an existing store refers to another file by now, or to none.  One rank calls it.
  /// errors  kSystem.
  virtual void check_name() const {}
  /// Ends the source: a new store appears under its name.  Collective, after all ranks have finished their
  /// accesses.
  /// syncs: true if elements that some rank may have written must be durable; the same on every rank.
  /// errors  kSystem, the same on every rank.
  virtual void finish(collective::Collective& call, bool syncs) = 0;
  /// Removes an unfinished new store, or leaves it if unfinished stores stay.
  virtual void discard() noexcept {}
  /// Return, on rank 0, whether a new store continues an unfinished one of an earlier program, and its temporary path.
  virtual bool continued() const { return false; }
  virtual std::string unfinished_path() const { return {}; }
  /// Returns the channel of arrays that have no offsets, or nullptr.
  virtual Channel* channel() { return nullptr; }
};

}  // namespace plait::core
