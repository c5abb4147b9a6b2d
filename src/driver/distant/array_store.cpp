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
constexpr std::size_t kAhead = 64;

DistantRequest start(SharedFile& file, const store::ReadSegment& segment) {
  return file.start_read(segment.offset, segment.data, segment.bytes);
}
DistantRequest start(SharedFile& file, const store::WriteSegment& segment) {
  return file.start_write(segment.offset, segment.data, segment.bytes);
}

template <typename Segment>
void join_neighbours(std::vector<Segment>& segments) {
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

/// A batch whose requests begin and complete in the order of the segments.
template <typename Segment>
class PendingRequests : public store::Pending {
 public:
  PendingRequests(SharedFile& file, std::vector<Segment> segments) : file_(file), segments_(std::move(segments)) {
    join_neighbours(segments_);
    error_ = collective::caught([this] { begin(); });
  }
  /// Waits for the requests even if complete() was not called, because they access the caller's memory.
  ~PendingRequests() override { wait_for_all(); }
  PendingRequests(const PendingRequests&) = delete;
  PendingRequests& operator=(const PendingRequests&) = delete;

  void complete() override {
    while (!error_ && !under_way_.empty()) {
      error_ = collective::caught([this] {
        DistantRequest first = under_way_.front();
        under_way_.pop_front();
        first.wait();
        begin();
      });
    }
    wait_for_all();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void begin() {
    for (; begun_ < segments_.size() && under_way_.size() < kAhead; ++begun_)
      under_way_.push_back(start(file_, segments_[begun_]));
  }
  void wait_for_all() noexcept {
    for (DistantRequest& request : under_way_) collective::caught([&] { request.wait(); });
    under_way_.clear();
  }

  SharedFile& file_;
  std::vector<Segment> segments_;
  std::size_t begun_ = 0;
  std::deque<DistantRequest> under_way_;
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
