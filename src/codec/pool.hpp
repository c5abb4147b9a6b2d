/// A pool of objects that are expensive to create and are used by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace plait::codec {

/// A pool, which grows to the largest number of objects in use at the same time. Objects are not bound to threads,
/// because each access starts and ends threads.
template <typename Type>
class Pool {
 public:
  /// Holds an object of the pool. The destructor returns the object to the pool.
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<Type> object) : pool_(pool), object_(std::move(object)) {}
    ~Lease() { pool_.put_back(std::move(object_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Type& operator*() const { return *object_; }
    Type* operator->() const { return object_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<Type> object_;
  };

  /// Takes an object out of the pool, or creates one if none is idle.
  Lease borrow() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Type> object = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(object)};
      }
      idle_.reserve(++created_);  // so that put_back() never allocates
    }
    return {*this, std::make_unique<Type>()};
  }

 private:
  void put_back(std::unique_ptr<Type> object) noexcept {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(object));
  }

  std::mutex mutex_;
  std::size_t created_ = 0;
  std::vector<std::unique_ptr<Type>> idle_;
};

}  // namespace plait::codec
