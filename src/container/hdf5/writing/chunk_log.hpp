/// Packed chunks that all ranks append to a file, and how each finds those of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "container/hdf5/dataset.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container::hdf5 {

/// Chunks follow each other in the file as they come: a counter that all ranks share says where there is space, and a
/// header of 24 bytes says what each is, so that any rank finds out by going from one to the next.  Of chunks that are
/// appended several times the last one counts.
/// threads  Any number at once, on different chunks.
class ChunkLog {
 public:
  /// begin: where in the file the first one goes.  mark: what headers begin with, which nothing else there does.
  ChunkLog(std::shared_ptr<store::Store> file, std::int64_t begin, std::uint64_t mark)
      : file_(std::move(file)), begin_(begin), mark_(mark), looked_(begin) {}
  /// Before the first call of another one.  alone: whether no other process appends.
  void share(std::unique_ptr<transport::Counter> counter, bool alone) {
    counter_ = std::move(counter);
    alone_ = alone;
  }

  /// Appends one.  left_out: as of Chunk.  errors  kSystem: it does not count then.
  void append(std::int64_t number, std::span<const std::byte> packed, std::uint32_t left_out = 0);
  /// Lets others find what is behind a chunk that could not be appended for want of space, where there is some now.
  void mend() noexcept;
  /// Learns what others have appended so far.
  void look();
  /// The last one of that number, of this rank or as of the last look(); none: there is none.
  std::optional<Chunk> last(std::int64_t number) const;
  /// The last ones of all numbers, ascending.  errors  kSystem: one that others have begun is not complete.
  std::vector<Chunk> all();
  /// Whether all that has been begun is complete and known: look() has gone up to the end.
  bool complete();
  /// The offset behind all of them.
  std::int64_t end() const { return begin_ + counter_->load(); }

 private:
  void write_header(std::int64_t at, std::int64_t number, std::int64_t bytes, std::uint32_t left_out);
  /// Under the mutex.
  void take(const Chunk& chunk);
  void look_locked();

  std::shared_ptr<store::Store> file_;
  const std::int64_t begin_;
  const std::uint64_t mark_;
  std::unique_ptr<transport::Counter> counter_;
  bool alone_ = true;
  mutable std::mutex mutex_;
  std::int64_t looked_;  // so far
  std::unordered_map<std::int64_t, Chunk> last_;
  std::vector<Chunk> unmarked_;  // without a header, of this rank
};

}  // namespace plait::container::hdf5
