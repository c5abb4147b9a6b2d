/// Bytes in memory as a store, with faults on request, for tests.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace plait::store::memory {

/// A store of fixed size in the memory of this process. A test can make the access to a segment fail.
class MemoryStore : public Store {
 public:
  explicit MemoryStore(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {}
  const std::string& name() const override { return name_; }
  std::int64_t size() override { return static_cast<std::int64_t>(bytes_.size()); }
  std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) override;
  std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) override;
  void sync() override {}

  std::vector<std::byte>& bytes() { return bytes_; }
  /// Makes the copy of the segment with this number fail with EIO. Segments are numbered from 0 over all batches; -1:
  /// none fails.
  void fail_at(std::int64_t segment) { fail_at_ = segment; }
  /// Returns the number of segments copied so far.
  std::int64_t segments() const { return segments_; }

 private:
  friend class PendingCopy;
  std::string name_ = "memory";
  std::vector<std::byte> bytes_;
  std::atomic<std::int64_t> segments_{0};
  std::atomic<std::int64_t> fail_at_{-1};
};

}  // namespace plait::store::memory
