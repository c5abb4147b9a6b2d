// Reads and writes shared bytes by memcpy.

#include "driver/memory/bytes_store.hpp"

#include <cerrno>
#include <cstring>

#include "base/errors.hpp"

namespace plait::driver::memory {

namespace {

void copy_segment(std::byte* bytes, const store::ReadSegment& segment) {
  std::memcpy(segment.data, bytes, static_cast<std::size_t>(segment.bytes));
}
void copy_segment(std::byte* bytes, const store::WriteSegment& segment) {
  std::memcpy(bytes, segment.data, static_cast<std::size_t>(segment.bytes));
}

/// A batch that copies memory when it is completed.
template <typename Segment>
class PendingCopies : public store::Pending {
 public:
  PendingCopies(std::shared_ptr<SharedBytes> bytes, std::vector<Segment> segments, std::string display_name)
      : bytes_(std::move(bytes)), segments_(std::move(segments)), display_name_(std::move(display_name)) {}

  void complete() override {
    for (const Segment& segment : segments_) {
      if (segment.offset < 0 || segment.bytes > bytes_->bytes - segment.offset)
        base::throw_system_error(EINVAL, "cannot reach ", segment.bytes, " bytes at offset ", segment.offset, " of ",
                                 display_name_, ", which has ", bytes_->bytes);
      if (segment.bytes > 0) copy_segment(bytes_->data + segment.offset, segment);
    }
  }

 private:
  std::shared_ptr<SharedBytes> bytes_;
  std::vector<Segment> segments_;
  std::string display_name_;
};

}  // namespace

std::unique_ptr<store::Pending> BytesStore::submit_read(std::vector<store::ReadSegment> segments) {
  return std::make_unique<PendingCopies<store::ReadSegment>>(bytes_, std::move(segments), display_name_);
}

std::unique_ptr<store::Pending> BytesStore::submit_write(std::vector<store::WriteSegment> segments) {
  return std::make_unique<PendingCopies<store::WriteSegment>>(bytes_, std::move(segments), display_name_);
}

}  // namespace plait::driver::memory
