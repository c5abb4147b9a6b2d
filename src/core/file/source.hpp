/// What a File is open on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collective/collective.hpp"
#include "core/file/channel.hpp"
#include "store/store.hpp"

namespace plait::core {

/// One rank's end of a store that all ranks have open.  Letting it go without finish() drops a new one, and waits for
/// nobody.
class Source {
 public:
  virtual ~Source() = default;
  /// Where the bytes are; another one after resize().  nullptr: there is a channel instead.
  virtual std::shared_ptr<store::Store> store() const = 0;
  /// Makes a new store longer that does not grow by being written.  Collective.  errors  kSystem, the same on every
  /// rank.
  virtual void resize(collective::Collective& call, std::int64_t bytes) = 0;
  /// Of one that is there: throws where its name stands for another file by now, or for none.  One rank calls it.
  /// errors  kSystem.
  virtual void check_name() const {}
  /// Ends it: lets a new one appear under its name, durably.  Collective, once no rank has anything under way.
  /// written: whether this rank may have written to it.  errors  kSystem, the same on every rank.
  virtual void finish(collective::Collective& call, bool written) = 0;
  /// Removes what was made of a new one, or leaves it where unfinished ones are kept.
  virtual void discard() noexcept {}
  /// Of a new one, on rank 0: whether it goes on with what an earlier program has left, and where it is meanwhile.
  virtual bool continued() const { return false; }
  virtual std::string unfinished_path() const { return {}; }
  /// What carries its arrays to whoever reads, where they lie at no offsets.
  virtual Channel* channel() { return nullptr; }
};

}  // namespace plait::core
