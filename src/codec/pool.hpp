/// A pool of objects that are expensive to make and are used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace plait::codec {

/// The pool grows to the largest number of objects in use at the same time. It is not bound to threads, because these
/// come and go with each access.
template <typename Type>
class Pool {
 public:
  /// An object that is borrowed from the pool until this is destroyed.
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Type> thing) : pool_(pool), thing_(std::move(thing)) {}
    ~Lease() { pool_.give(std::move(thing_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Type& operator*() const { return *thing_; }
    Type* operator->() const { return thing_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<Type> thing_;
  };

  Lease borrow() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Type> thing = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(thing)};
      }
      idle_.reserve(++made_);  // so that give() never allocates
    }
    return {*this, std::make_unique<Type>()};
  }

 private:
  void give(std::unique_ptr<Type> thing) noexcept {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(thing));
  }

  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<Type>> idle_;
};

}  // namespace plait::codec
