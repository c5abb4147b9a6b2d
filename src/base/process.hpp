/// Which process made a thing: the child of a fork is another one.
///
/// A child has a copy of its parent's memory, but not its threads, and no part in what its parent does with others.  So
/// it owns nothing that the parent made: it leaves files, threads, locks and sockets as they are, does not even destroy
/// what threads of the parent may be waiting for, and calls on the parent's handles are errors.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <utility>

namespace plait::base {

/// The process that was running when this was made.
class Owner {
 public:
  Owner() noexcept;
  /// Whether it is the one that is running.
  bool here() const noexcept;
  int process() const noexcept { return process_; }
  /// errors  kArgument where it is not: says whose `what` is, and `advice`.
  void check(std::string_view what, std::string_view advice = "open it anew in this process") const;

 private:
  unsigned generation_;
  int process_;
};

/// Remembers a thing that stays in memory for the rest of a child: what looks for leaks is to find it.
void keep(const void* thing) noexcept;

/// Deletes what a process has made, in that process.
template <typename Type>
class OwnerDelete {
 public:
  void operator()(Type* thing) const noexcept { owner_.here() ? delete thing : keep(thing); }

 private:
  Owner owner_;
};

/// A shared thing with threads, locks or files of its own, which the children of this process leave alone.
template <typename Type, typename... Arguments>
std::shared_ptr<Type> make_owned(Arguments&&... arguments) {
  std::unique_ptr<Type> made(new Type(std::forward<Arguments>(arguments)...));
  return std::shared_ptr<Type>(made.release(), OwnerDelete<Type>());
}

/// Destroys a thing where its owner is running; a child leaves it where it is.
template <typename Type>
void let_go(std::unique_ptr<Type>& thing, const Owner& owner) noexcept {
  if (owner.here()) {
    thing.reset();
  } else {
    keep(thing.release());
  }
}

/// A variable of static duration that each process makes for itself at its first use, and never destroys.
template <typename Type>
class PerProcess {
 public:
  Type& get() {
    Instance* known = instance_.load(std::memory_order_acquire);
    if (known != nullptr && known->owner.here()) return known->value;
    auto made = std::make_unique<Instance>();
    made->of_parent = known;
    if (instance_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return made.release()->value;
    return known->value;  // another thread was first
  }

 private:
  struct Instance {
    Owner owner;
    Instance* of_parent = nullptr;
    Type value;
  };
  std::atomic<Instance*> instance_{nullptr};
};

}  // namespace plait::base
