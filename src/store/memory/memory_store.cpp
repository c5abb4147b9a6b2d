#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/errors.hpp"

namespace plait::store::memory {

/// A batch that copies segments from or to the memory when it is completed.
class PendingCopy : public Pending {
 public:
  PendingCopy(MemoryStore& store, std::vector<ReadSegment> reads, std::vector<WriteSegment> writes)
      : store_(store), reads_(std::move(reads)), writes_(std::move(writes)) {}

  void complete() override {
    for (const ReadSegment& segment : reads_)
      std::copy_n(checked_address(segment.offset, segment.bytes), segment.bytes, segment.data);
    for (const WriteSegment& segment : writes_)
      std::copy_n(segment.data, segment.bytes, checked_address(segment.offset, segment.bytes));
  }

 private:
  /// Returns the address of a segment in the store, and counts it.
  /// errors  kSystem: the segment is made to fail, or is outside the store.
  std::byte* checked_address(std::int64_t offset, std::int64_t bytes) {
    if (store_.segments_++ == store_.fail_at_)
      base::throw_system_error(EIO, "cannot reach memory at offset ", offset, ": made to fail");
    if (offset < 0 || bytes > store_.size() - offset)
      base::throw_system_error(0, "cannot reach memory at offset ", offset, ": the store has ", store_.size(),
                               " bytes");
    return store_.bytes_.data() + offset;
  }

  MemoryStore& store_;
  std::vector<ReadSegment> reads_;
  std::vector<WriteSegment> writes_;
};

std::unique_ptr<Pending> MemoryStore::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingCopy>(*this, std::move(segments), std::vector<WriteSegment>{});
}

std::unique_ptr<Pending> MemoryStore::submit_write(std::vector<WriteSegment> segments) {
  return std::make_unique<PendingCopy>(*this, std::vector<ReadSegment>{}, std::move(segments));
}

}  // namespace plait::store::memory
