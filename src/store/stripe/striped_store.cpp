// Submitting requests to all components of a striped file.
//
// Problem: a large request has one piece for each stripe. Computing all pieces first would need much memory, and the
// last disk would begin only after that.
//
// Idea: RequestSplit yields rounds of at most 4 MiB for each component. Round k + 1 is submitted before round k is
// completed, so that every disk always has a request.
// Example: a read of 100 MiB from 4 disks has 7 rounds of 16 MiB, the last one of 4 MiB.

#include "store/stripe/striped_store.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/stripe/request_split.hpp"

namespace plait::store::stripe {

namespace {

using Components = std::vector<std::unique_ptr<posix::PosixStore>>;
using Batch = std::vector<std::unique_ptr<Pending>>;

std::unique_ptr<Pending> submit_to(posix::PosixStore& store, std::vector<ReadSegment> pieces) {
  return store.submit_read(std::move(pieces));
}
std::unique_ptr<Pending> submit_to(posix::PosixStore& store, std::vector<WriteSegment> pieces) {
  return store.submit_write(std::move(pieces));
}

/// A split request that is performed in rounds. Each round is submitted before the previous one is completed, so that
/// the disks always have work.
template <typename Segment>
class PendingRounds : public Pending {
 public:
  PendingRounds(Components& components, RequestSplit<Segment> split)
      : components_(components), split_(std::move(split)), first_(submit_round()) {}

  void complete() override {
    for (Batch batch = std::move(first_); !batch.empty();) {
      Batch next = submit_round();
      const std::exception_ptr error = complete_all(batch);
      if (error) {
        complete_all(next);
        std::rethrow_exception(error);
      }
      batch = std::move(next);
    }
  }

 private:
  Batch submit_round() {
    Batch batch;
    if (split_.is_done()) return batch;
    std::vector<std::vector<Segment>> parts = split_.next();
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!parts[i].empty()) batch.push_back(submit_to(*components_[i], std::move(parts[i])));
    return batch;
  }
  /// Completes all requests of a batch, even after an error, because every submitted request must be completed. Returns
  /// the first error.
  static std::exception_ptr complete_all(Batch& batch) {
    std::exception_ptr first;
    for (const std::unique_ptr<Pending>& pending : batch) {
      try {
        pending->complete();
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    }
    return first;
  }

  Components& components_;
  RequestSplit<Segment> split_;
  Batch first_;
};

/// A request that is invalid; complete() throws the error.
class PendingError : public Pending {
 public:
  explicit PendingError(Error error) : error_(std::move(error)) {}
  void complete() override { throw error_; }

 private:
  Error error_;
};

}  // namespace

StripedStore::StripedStore(const Description& description, Access access, std::string display_name)
    : display_name_(std::move(display_name)), unit_(description.unit), bytes_(description.bytes) {
  // A large read is spread over all disks, and each component should read ahead while the caller waits for another one.
  // The minimum size for read-ahead is therefore divided by the number of components.
  constexpr std::int64_t kMinReadAheadBytes = std::int64_t{16} << 10;
  const auto count = static_cast<std::int64_t>(description.components.size());
  const std::int64_t read_ahead =
      std::max(posix::PosixStore::kMinReadAhead / std::max<std::int64_t>(count, 1), kMinReadAheadBytes);
  try {
    for (const std::string& component : description.components)
      components_.push_back(std::make_unique<posix::PosixStore>(component, access, read_ahead));
  } catch (const Error& error) {
    base::rethrow(error, display_name_, ": ", error.what());
  }
}

std::string StripedStore::description() const {
  return base::text("stripes of ", base::bytes_text(unit_), " on ", components_.size(),
                    components_.size() == 1 ? " disk" : " disks");
}

std::vector<Identity> StripedStore::identities() const {
  std::vector<Identity> result;
  for (const auto& component : components_) result.push_back(component->identity());
  return result;
}

template <typename Segment>
std::unique_ptr<Pending> StripedStore::submit(std::vector<Segment> segments) {
  for (const Segment& segment : segments)
    if (segment.offset < 0 || segment.bytes > bytes_ - segment.offset)
      return std::make_unique<PendingError>(
          Error(ErrorKind::kSystem,
                base::text("cannot reach ", segment.bytes, " bytes at offset ", segment.offset, " of ", display_name_,
                           ": the file has ", bytes_, " bytes"),
                EINVAL));
  return std::make_unique<PendingRounds<Segment>>(
      components_, RequestSplit<Segment>(std::move(segments), unit_, components_.size()));
}

std::unique_ptr<Pending> StripedStore::submit_read(std::vector<ReadSegment> segments) {
  return submit(std::move(segments));
}

std::unique_ptr<Pending> StripedStore::submit_write(std::vector<WriteSegment> segments) {
  return submit(std::move(segments));
}

void StripedStore::sync() {
  for (const auto& component : components_) component->start_sync();
  for (const auto& component : components_) component->sync();
}

}  // namespace plait::store::stripe
