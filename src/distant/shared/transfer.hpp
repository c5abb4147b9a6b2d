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

/// A range of the file and the buffer of a read (`into`) or of a write (`from`); the other buffer is null.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::byte* into = nullptr;
  const std::byte* from = nullptr;
};

/// A read or write.  The bytes after the end of a component are zeros if the file continues in another component.  If a
/// read goes beyond the end that this rank knows, its last byte must exist in its component; only if that byte is
/// missing are all components asked for their lengths (transfer.cpp has an example).
class Transfer : public std::enable_shared_from_this<Transfer> {
 public:
  /// `path` is for errors.  The path and the components must outlive the transfer.
  Transfer(const Parts& parts, KnownEnd& known, const std::string& path, const Extent& extent);

  /// Returns true if run() may be used: the transfer is small, this process can open all components, and no batch is
  /// demanding.
  bool can_run_here() const;
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
  void on_batch_ended(std::size_t index, const transport::CallFailure* failure, const Completion& done);
  void fail_batch(std::size_t index, const transport::CallFailure& failure, const Completion& done) const;
  void ask_whether_zero(std::size_t index, const Completion& done);
  void read_zeros(std::size_t index, std::int64_t end, const Completion& done);
  transport::CallFailure make_past_end_failure(std::int64_t end) const;
  void finish_batch();
  void access(const LocalFile& file, const Batch& batch, bool demanding) const;
  std::int64_t batch_offset(const Batch& batch) const {
    return parts_.stripes().offset_at(batch.component, batch.position);
  }
  transport::CallFailure with_offset(const Batch& batch, const transport::CallFailure& failure) const;

  const Parts& parts_;
  KnownEnd& known_end_;
  const std::string& path_;
  Extent extent_;
  std::int64_t end_;
  std::vector<Batch> batches_;
  std::size_t
      demanding_batch_;  // the batch that must exist up to its last byte; the number of batches if there is none
  std::atomic<std::size_t> unfinished_batches_;
};

}  // namespace plait::distant::shared
