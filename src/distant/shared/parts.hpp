/// The open component files of a shared file.
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

/// The components of a shared file, and the distant files through which they are accessed.  A distant file has one file
/// of each rank, but a rank may serve several components.  Therefore the components are opened in rounds, each of which
/// is one distant file.  Example: 4 components on 2 ranks need 2 rounds.
/// threads  Any number at once, apart from add(), finish_opening() and close().
class Parts {
 public:
  Parts() = default;
  /// Constructs the parts of an ordinary file: one component, which each rank opens itself, so that no bytes go through
  /// messages.
  explicit Parts(int rank) : servers_{rank}, rounds_of_{0} {}
  Parts(const StripeMap& stripes, std::vector<int> servers);

  const StripeMap& stripes() const { return stripes_; }
  int server(int component) const { return servers_[static_cast<std::size_t>(component)]; }
  DistantFile::Impl& file(int component) const { return *open_[round_index(component)]; }
  std::shared_ptr<const LocalFile> direct(int component) const { return file(component).direct(server(component)); }
  /// Returns true if no byte goes through a message.
  bool all_direct() const { return all_direct_; }

  /// Returns the components of a rank, one for each round; a rank with fewer components has none in the last rounds.
  std::vector<int> components_served_by(int rank) const;
  int rounds() const { return rounds_; }
  /// Adds the distant files of the next round.
  void add(std::unique_ptr<DistantFile::Impl> round) { open_.push_back(std::move(round)); }
  /// Call this after all rounds have been added: it determines all_direct().
  void finish_opening();
  void close();

 private:
  std::size_t round_index(int component) const { return rounds_of_[static_cast<std::size_t>(component)]; }

  StripeMap stripes_;
  std::vector<int> servers_;
  std::vector<std::size_t> rounds_of_;                    // the round of each component
  std::vector<std::unique_ptr<DistantFile::Impl>> open_;  // the distant file of each round
  int rounds_ = 1;
  bool all_direct_ = false;
};

/// A lower bound of the end of the file.  Relaxed order suffices: the bound only saves queries for the end.
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

/// Asks for the lengths of all components, and calls `done` once, on any thread, with the end of the file that they
/// imply. `done` must not throw.  The calls can be cancelled together with `request`.
/// errors  std::bad_alloc: no request was sent, and `done` is not called.
using EndCallback = std::function<void(const transport::CallFailure*, std::int64_t end)>;
void query_end(const Parts& parts, const void* request, EndCallback done);

}  // namespace plait::distant::shared
