// A batch of requests to a shared file.
//
// At most 64 requests are in flight. Example: of 200 segments the constructor starts 64; complete() waits for the first
// one, starts the 65th, waits for the second, and so on. After an error no further request is started, but all started
// ones are awaited, because they access the caller's memory.

#include "driver/distant/array_store.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "base/text.hpp"
#include "collective/agree.hpp"

namespace plait::driver::distant {

namespace {

/// Maximum number of requests of a batch in flight: enough to use all disks and the network, but the memory for
/// requests does not grow with the batch.
constexpr std::size_t kMaxInFlight = 64;

DistantRequest start_request(SharedFile& file, const store::ReadSegment& segment) {
  return file.start_read(segment.offset, segment.data, segment.bytes);
}
DistantRequest start_request(SharedFile& file, const store::WriteSegment& segment) {
  return file.start_write(segment.offset, segment.data, segment.bytes);
}

/// Joins consecutive segments that are adjacent both in the file and in memory, and drops empty ones.
template <typename Segment>
void join_adjacent(std::vector<Segment>& segments) {
  std::vector<Segment> joined;
  for (const Segment& segment : segments) {
    if (segment.bytes == 0) continue;
    if (!joined.empty()) {
      Segment& last = joined.back();
      if (last.offset + last.bytes == segment.offset && last.data + last.bytes == segment.data) {
        last.bytes += segment.bytes;
        continue;
      }
    }
    joined.push_back(segment);
  }
  segments = std::move(joined);
}

/// A batch of requests, which it starts and awaits in the order of the segments.
template <typename Segment>
class PendingRequests : public store::Pending {
 public:
  PendingRequests(SharedFile& file, std::vector<Segment> segments) : file_(file), segments_(std::move(segments)) {
    join_adjacent(segments_);
    // complete() reports the error. Until then the destructor must run, because it waits for the started requests.
    error_ = collective::caught([this] { start_requests(); });
  }
  /// Waits for the requests even if complete() was not called, because they access the caller's memory.
  ~PendingRequests() override { wait_for_all(); }
  PendingRequests(const PendingRequests&) = delete;
  PendingRequests& operator=(const PendingRequests&) = delete;

  void complete() override {
    while (!error_ && !in_flight_.empty()) {
      error_ = collective::caught([this] {
        DistantRequest first = in_flight_.front();
        in_flight_.pop_front();
        first.wait();
        start_requests();
      });
    }
    wait_for_all();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// Starts the next requests, until kMaxInFlight are in flight.
  void start_requests() {
    for (; started_ < segments_.size() && in_flight_.size() < kMaxInFlight; ++started_)
      in_flight_.push_back(start_request(file_, segments_[started_]));
  }
  void wait_for_all() noexcept {
    for (DistantRequest& request : in_flight_) collective::caught([&] { request.wait(); });
    in_flight_.clear();
  }

  SharedFile& file_;
  std::vector<Segment> segments_;
  std::size_t started_ = 0;  // number of segments with a request
  std::deque<DistantRequest> in_flight_;
  std::exception_ptr error_;
};

}  // namespace

std::string ArrayStore::description() const {
  if (!file_.is_striped()) return "one file that all ranks see";
  return base::text("stripes of ", base::bytes_text(file_.unit()), " in ", file_.components(),
                    file_.components() == 1 ? " component file" : " component files", " on the ranks' disks");
}

std::unique_ptr<store::Pending> ArrayStore::submit_read(std::vector<store::ReadSegment> segments) {
  return std::make_unique<PendingRequests<store::ReadSegment>>(file_, std::move(segments));
}

std::unique_ptr<store::Pending> ArrayStore::submit_write(std::vector<store::WriteSegment> segments) {
  return std::make_unique<PendingRequests<store::WriteSegment>>(file_, std::move(segments));
}

}  // namespace plait::driver::distant
