/// A read or write of a shared file, as a set of accesses to its components.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distant/request.hpp"
#include "distant/shared/parts.hpp"
#include "plait/distant.hpp"

namespace plait::distant::shared {

/// The bytes to move; exactly one of the buffers is not null.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::byte* into = nullptr;
  const std::byte* from = nullptr;
};

/// A read or write.  The bytes after the end of a component are zeros if the file continues in another component.  A
/// read beyond the end that this rank knows demands the last byte of its component; only if that is missing are all
/// components asked for their lengths.
class Transfer : public std::enable_shared_from_this<Transfer> {
 public:
  /// `path` is for errors.  The path and the components must outlive the transfer.
  Transfer(const Parts& parts, KnownEnd& known, const std::string& path, const Extent& extent);

  /// Returns true if run() may be used: the transfer is small, this process can open all components, and no batch is
  /// demanding.
  bool fits_here() const;
  /// Carries out the transfer on the calling thread.
  void run();
  /// Reads at once if the page cache has all bytes; otherwise returns false, and the buffer is undefined.
  bool read_cached();
  /// Starts the transfer.
  DistantRequest start(std::shared_ptr<OutstandingRequests> outstanding,
                       const std::shared_ptr<transport::ActiveMessages>& active);

 private:
  using Completion = DistantRequest::Impl::Completion;

  /// begin() and begin_call() throw only if they have not begun anything, and then do not call `done`.  The functions
  /// after them do not throw: they are called at the end of an access, on any thread.
  void begin(std::size_t index, bool demanding, Completion done);
  void begin_call(const Batch& batch, bool demanding, Completion done);
  void ended(std::size_t index, const transport::CallFailure* failure, const Completion& done);
  void failed(std::size_t index, const transport::CallFailure& failure, const Completion& done) const;
  void ask_whether_zero(std::size_t index, const Completion& done);
  void read_zeros(std::size_t index, std::int64_t end, const Completion& done);
  transport::CallFailure past_end(std::int64_t end) const;
  void batch_done();
  void access(const LocalFile& file, const Batch& batch, bool demanding) const;
  std::int64_t batch_offset(const Batch& batch) const {
    return parts_.stripes().offset_at(batch.component, batch.position);
  }
  transport::CallFailure with_offset(const Batch& batch, const transport::CallFailure& failure) const;

  const Parts& parts_;
  KnownEnd& known_;
  const std::string& path_;
  Extent extent_;
  std::int64_t end_;
  std::vector<Batch> batches_;
  std::size_t demanding_;  // the batch that must exist up to its last byte; the number of batches if there is none
  std::atomic<std::size_t> left_;
};

}  // namespace plait::distant::shared
