/// Records which process owns an object, because the child of a fork is another process.
///
/// A child has a copy of its parent's memory, but neither the parent's threads nor a part in its communication. So it
/// owns nothing that the parent created: it leaves files, threads, locks and sockets as they are, and does not destroy
/// objects for which threads of the parent may wait. Calls on the parent's handles are errors.
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
  /// Returns true if the current process is the owner; false in its children.
  bool here() const noexcept;
  int process() const noexcept { return process_; }
  /// errors  kArgument if the current process is not the owner: names `what`, its owner and `advice`.
  void check(std::string_view what, std::string_view advice = "open it anew in this process") const;

 private:
  unsigned generation_;
  int process_;
};

/// Leaves an object allocated until the process ends on purpose, and stores a reference to it for leak detectors.
void leak(const void* object) noexcept;

/// Deletes an object in the process that created this deleter, and leaks it in others.
template <typename Type>
class OwnerDelete {
 public:
  void operator()(Type* object) const noexcept { owner_.here() ? delete object : leak(object); }

 private:
  Owner owner_;
};

/// Makes a shared object that owns threads, locks or files. Children of this process do not destroy it.
template <typename Type, typename... Arguments>
std::shared_ptr<Type> make_owned(Arguments&&... arguments) {
  std::unique_ptr<Type> created(new Type(std::forward<Arguments>(arguments)...));
  return std::shared_ptr<Type>(created.release(), OwnerDelete<Type>());
}

/// Destroys an object in the process of its owner, and leaks it in a child.
template <typename Type>
void destroy_or_leak(std::unique_ptr<Type>& object, const Owner& owner) noexcept {
  if (owner.here()) {
    object.reset();
  } else {
    leak(object.release());
  }
}

/// A static variable that each process constructs at its first use and never destroys.
template <typename Type>
class PerProcess {
 public:
  Type& get() {
    Instance* current = instance_.load(std::memory_order_acquire);
    if (current != nullptr && current->owner.here()) return current->value;
    auto created = std::make_unique<Instance>();
    created->of_parent = current;
    if (instance_.compare_exchange_strong(current, created.get(), std::memory_order_acq_rel))
      return created.release()->value;
    return current->value;  // another thread was faster
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
