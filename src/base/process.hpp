/// Ownership of objects by processes: the child of a fork is another process.
///
/// A child has a copy of its parent's memory, but neither its threads nor a part in its communication. So it owns
/// nothing that the parent made. It leaves files, threads, locks and sockets as they are, does not destroy objects
/// for which threads of the parent may wait, and calls on the parent's handles are errors.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <utility>

namespace plait::base {

/// The process that made this object.
class Owner {
 public:
  Owner() noexcept;
  /// True if the current process is the owner.
  bool here() const noexcept;
  int process() const noexcept { return process_; }
  /// errors  kArgument if the current process is not the owner: names `what`, its owner and `advice`.
  void check(std::string_view what, std::string_view advice = "open it anew in this process") const;

 private:
  unsigned generation_;
  int process_;
};

/// Registers an object that stays in memory for the rest of a child, so that leak detectors find a reference to it.
void keep(const void* thing) noexcept;

/// Deletes an object in the process that made it, and leaks it in others.
template <typename Type>
class OwnerDelete {
 public:
  void operator()(Type* thing) const noexcept { owner_.here() ? delete thing : keep(thing); }

 private:
  Owner owner_;
};

/// Makes a shared object with threads, locks or files of its own, which the children of this process do not destroy.
template <typename Type, typename... Arguments>
std::shared_ptr<Type> make_owned(Arguments&&... arguments) {
  std::unique_ptr<Type> made(new Type(std::forward<Arguments>(arguments)...));
  return std::shared_ptr<Type>(made.release(), OwnerDelete<Type>());
}

/// Destroys an object in the process of its owner, and leaks it in a child.
template <typename Type>
void let_go(std::unique_ptr<Type>& thing, const Owner& owner) noexcept {
  if (owner.here()) {
    thing.reset();
  } else {
    keep(thing.release());
  }
}

/// A static variable that each process constructs at its first use and never destroys.
template <typename Type>
class PerProcess {
 public:
  Type& get() {
    Instance* known = instance_.load(std::memory_order_acquire);
    if (known != nullptr && known->owner.here()) return known->value;
    auto made = std::make_unique<Instance>();
    made->of_parent = known;
    if (instance_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return made.release()->value;
    return known->value;  // another thread was faster
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
