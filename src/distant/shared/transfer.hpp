/// A read or write of a shared file, made of accesses to its components.
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

/// What is to be moved; exactly one of the buffers is there.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::byte* into = nullptr;
  const std::byte* from = nullptr;
};

/// Behind the end of a component lie zeros, as long as the file goes on in another one.  A read that passes the end
/// that is known here demands of the component of its last byte that it has that; only where it has not, all are asked.
class Transfer : public std::enable_shared_from_this<Transfer> {
 public:
  /// `path` is for errors.  All of them, and the components, outlive the transfer.
  Transfer(const Parts& parts, KnownEnd& known, const std::string& path, const Extent& extent);

  /// Whether run() may do it.
  bool fits_here() const;
  /// Does it on the spot.
  void run();
  /// Reads on the spot if all of it is in the page cache; otherwise returns false.
  bool read_cached();
  /// Begins it.
  DistantRequest start(std::shared_ptr<Outstanding> outstanding, const std::shared_ptr<transport::Active>& active);

 private:
  using Done = DistantRequest::Impl::Done;

  /// Both throw where they have not begun anything, and do not call `done` then.  The others throw nothing: they are
  /// called where an access has ended, on any thread.
  void begin(std::size_t index, bool demanding, Done done);
  void begin_call(const Batch& batch, bool demanding, Done done);
  void ended(std::size_t index, const transport::CallFailure* failure, const Done& done);
  void failed(std::size_t index, const transport::CallFailure& failure, const Done& done) const;
  void ask_whether_zero(std::size_t index, const Done& done);
  void read_zeros(std::size_t index, std::int64_t end, const Done& done);
  transport::CallFailure past_end(std::int64_t end) const;
  void batch_done();
  void access(const LocalFile& file, const Batch& batch, bool demanding) const;
  std::int64_t offset_of(const Batch& batch) const {
    return parts_.stripes().offset_of(batch.component, batch.position);
  }
  transport::CallFailure told(const Batch& batch, const transport::CallFailure& failure) const;

  const Parts& parts_;
  KnownEnd& known_;
  const std::string& path_;
  Extent extent_;
  std::int64_t end_;
  std::vector<Batch> batches_;
  std::size_t demanding_;  // the batch that must be there to its last byte; none: the number of batches
  std::atomic<std::size_t> left_;
};

}  // namespace plait::distant::shared
