/// Splits requests for a striped file into requests for its components.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::store::stripe {

/// Splits segments at the borders of stripes, in rounds of at most 4 MiB and 1024 pieces for each component. Therefore
/// neither the memory for the pieces nor the time until the last disk gets its first request grows with the size of a
/// segment.
///
/// Stripes that follow each other in a component yield adjacent pieces, which its store joins to one request.
/// Example: stripes of 64 bytes on 2 components, and a segment of 200 bytes at offset 100.
///    stripe 1, bytes 100..127   component 1 at 36, 28 bytes
///    stripe 2, bytes 128..191   component 0 at 64, 64 bytes
///    stripe 3, bytes 192..255   component 1 at 64, 64 bytes
///    stripe 4, bytes 256..299   component 0 at 128, 44 bytes
/// Each component gets one request: component 0 for 64..171, component 1 for 36..127.
template <typename Segment>
class RequestSplit {
 public:
  RequestSplit(std::vector<Segment> segments, std::int64_t unit, std::size_t components)
      : segments_(std::move(segments)), unit_(unit), components_(components) {}

  bool is_done() const { return segment_ == segments_.size(); }
  /// Returns the pieces of the next round for each component; all are empty when everything has been distributed.
  /// cost  O(pieces + components).
  std::vector<std::vector<Segment>> next() {
    std::vector<std::vector<Segment>> result(components_);
    const auto count = static_cast<std::int64_t>(components_);
    std::int64_t bytes_left = kRoundBytes * count;
    std::size_t pieces_left = kRoundPieces * components_;
    for (; segment_ < segments_.size(); ++segment_, done_bytes_ = 0) {
      const Segment& segment = segments_[segment_];
      while (done_bytes_ < segment.bytes) {
        if (bytes_left <= 0 || pieces_left == 0) return result;
        const std::int64_t offset = segment.offset + done_bytes_;
        const std::int64_t stripe = offset / unit_;
        const std::int64_t within = offset % unit_;
        const std::int64_t bytes = std::min({unit_ - within, segment.bytes - done_bytes_, bytes_left});
        if (add(result[static_cast<std::size_t>(stripe % count)],
                {stripe / count * unit_ + within, segment.data + done_bytes_, bytes}))
          --pieces_left;
        bytes_left -= bytes;
        done_bytes_ += bytes;
      }
    }
    return result;
  }

 private:
  /// Maximum number of bytes for each component in one round: large enough for efficient disk requests, small enough
  /// that all disks begin soon.
  static constexpr std::int64_t kRoundBytes = std::int64_t{4} << 20;
  static constexpr std::size_t kRoundPieces = 1024;

  /// Adds a piece. Returns false if it only extends the last one.
  static bool add(std::vector<Segment>& pieces, const Segment& piece) {
    if (!pieces.empty()) {
      Segment& last = pieces.back();
      if (last.offset + last.bytes == piece.offset && last.data + last.bytes == piece.data) {
        last.bytes += piece.bytes;
        return false;
      }
    }
    pieces.push_back(piece);
    return true;
  }

  std::vector<Segment> segments_;
  std::int64_t unit_;
  std::size_t components_;
  std::size_t segment_ = 0;      // number of the segment that is being split
  std::int64_t done_bytes_ = 0;  // bytes of it that are distributed
};

}  // namespace plait::store::stripe
