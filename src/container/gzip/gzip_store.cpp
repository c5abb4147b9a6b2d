// Reading a gzipped file at any offset.
//
// Up to 4 idle inflaters are retained at their positions. A read uses the idle inflater with the largest position at or
// before its offset, if no restart point is between the two; otherwise a new inflater begins at the restart point.
// Example: restart points at 0, 1 and 2 MiB, and an idle inflater at 1.5 MiB. A read at 1.7 MiB uses it and skips 0.2
// MiB. A read at 2.2 MiB begins at the restart point of 2 MiB, and skips 0.2 MiB instead of 0.7.

#include "container/gzip/gzip_store.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::container::gzip {

namespace {

constexpr std::size_t kMaxIdleInflaters = 4;

class PendingInflation : public store::Pending {
 public:
  PendingInflation(GzipStore& store, std::vector<store::ReadSegment> segments)
      : store_(store), segments_(std::move(segments)) {}
  void complete() override {
    for (const store::ReadSegment& segment : segments_) store_.inflate(segment);
  }

 private:
  GzipStore& store_;
  std::vector<store::ReadSegment> segments_;
};

}  // namespace

void throw_read_only(const std::string& name) {
  base::throw_argument_error(name, ": gzipped files are only read; write ", name.substr(0, name.size() - 3),
                             " and gzip that, or write raw:", name, " for elements as they are");
}

GzipStore::GzipStore(std::shared_ptr<store::Store> file, Index index)
    : file_(std::move(file)), index_(std::move(index)) {}

std::string GzipStore::description() const {
  const std::string file_description = file_->description();
  return base::text(to_string(index_.framing), ", ", base::bytes_text(index_.content_bytes), " in ",
                    base::bytes_text(index_.compressed_bytes), ", ", index_.points.size(),
                    index_.points.size() == 1 ? " restart point" : " restart points",
                    file_description.empty() ? "" : "; ", file_description);
}

std::unique_ptr<store::Pending> GzipStore::submit_read(std::vector<store::ReadSegment> segments) {
  return std::make_unique<PendingInflation>(*this, std::move(segments));
}

std::unique_ptr<store::Pending> GzipStore::submit_write(std::vector<store::WriteSegment> /*segments*/) {
  throw_read_only(name());
}

std::unique_ptr<Inflater> GzipStore::acquire(std::int64_t offset) {
  const RestartPoint& point = index_.find_point(offset);
  {
    const std::scoped_lock lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it)
      if ((*it)->position() <= offset && (best == idle_.end() || (*it)->position() > (*best)->position())) best = it;
    if (best != idle_.end() && (*best)->position() >= point.content_offset) {
      std::unique_ptr<Inflater> inflater = std::move(*best);
      idle_.erase(best);
      return inflater;
    }
  }
  return std::make_unique<Inflater>(*file_, index_.compressed_bytes, point, index_.framing);
}

void GzipStore::recycle(std::unique_ptr<Inflater> inflater) {
  std::unique_ptr<Inflater> oldest;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex_);
  if (idle_.size() == kMaxIdleInflaters) {
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  idle_.push_back(std::move(inflater));
}

void GzipStore::inflate(const store::ReadSegment& segment) {
  if (segment.bytes == 0) return;
  if (segment.offset < 0 || segment.bytes > size() - segment.offset)
    base::throw_system_error(EINVAL, "cannot read ", segment.bytes, " bytes at offset ", segment.offset,
                             " of the content of ", name(), ", which has ", size());
  std::unique_ptr<Inflater> inflater = acquire(segment.offset);
  inflater->skip_to(segment.offset);
  inflater->read_whole(segment.data, segment.bytes);
  recycle(std::move(inflater));
}

}  // namespace plait::container::gzip
