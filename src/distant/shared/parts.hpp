/// The component files of a shared file that are open.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "distant/distant_file_impl.hpp"
#include "distant/shared/stripe_map.hpp"

namespace plait::distant::shared {

/// A rank may serve several components: each round of distant files has one of each rank.
/// threads  Any number at once, open() and close() apart.
class Parts {
 public:
  Parts() = default;
  /// One file: each rank has it open itself, and nobody asks another for bytes of it.
  explicit Parts(int rank) : servers_{rank}, rounds_of_{0} {}
  Parts(const StripeMap& stripes, std::vector<int> servers);

  const StripeMap& stripes() const { return stripes_; }
  int server(int component) const { return servers_[static_cast<std::size_t>(component)]; }
  DistantFile::Impl& file(int component) const { return *open_[round_of(component)]; }
  std::shared_ptr<const LocalFile> direct(int component) const { return file(component).direct(server(component)); }
  /// Whether no byte goes by a message.
  bool all_direct() const { return all_direct_; }

  /// The components of a rank, one for each round; a rank with fewer has none in the last ones.
  std::vector<int> of(int rank) const;
  int rounds() const { return rounds_; }
  /// Opens the next round.
  void add(std::unique_ptr<DistantFile::Impl> round) { open_.push_back(std::move(round)); }
  void opened();
  void close();

 private:
  std::size_t round_of(int component) const { return rounds_of_[static_cast<std::size_t>(component)]; }

  StripeMap stripes_;
  std::vector<int> servers_;
  std::vector<std::size_t> rounds_of_;
  std::vector<std::unique_ptr<DistantFile::Impl>> open_;
  int rounds_ = 1;
  bool all_direct_ = false;
};

/// An offset that the end of the file is not before, as far as this rank knows.
class KnownEnd {
 public:
  std::int64_t get() const { return value_.load(std::memory_order_relaxed); }
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void raise(std::int64_t value) {
    std::int64_t old = get();
    while (old < value && !value_.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// Asks all components how long they are, as a part of a request.  `done` gets the end of the file, once, on any thread, and throws nothing.
/// errors  std::bad_alloc: nothing has been asked, and `done` is not called.
using EndKnown = std::function<void(const transport::CallFailure*, std::int64_t end)>;
void ask_end(const Parts& parts, const void* request, EndKnown done);

}  // namespace plait::distant::shared
