/// Distributes requests on a striped file to its components.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait::store::stripe {

/// Cuts segments at the stripes, in rounds, so that neither the memory that the pieces need nor the time until the next
/// disk is asked grows with a segment.
///
/// Pieces of a component follow each other there as their stripes do, so that its store makes one request of them.
template <typename Segment>
class RequestSplit {
 public:
  RequestSplit(std::vector<Segment> segments, std::int64_t unit, std::size_t components)
      : segments_(std::move(segments)), unit_(unit), components_(components) {}

  bool done() const { return at_ == segments_.size(); }
  /// The pieces of the next round for each component; all empty once everything is distributed.
  /// cost  O(pieces + components).
  std::vector<std::vector<Segment>> next() {
    std::vector<std::vector<Segment>> result(components_);
    const auto count = static_cast<std::int64_t>(components_);
    std::int64_t room = kRoundBytes * count;
    std::size_t pieces = kRoundPieces * components_;
    for (; at_ < segments_.size(); ++at_, done_ = 0) {
      const Segment& segment = segments_[at_];
      while (done_ < segment.bytes) {
        if (room <= 0 || pieces == 0) return result;
        const std::int64_t offset = segment.offset + done_;
        const std::int64_t stripe = offset / unit_;
        const std::int64_t within = offset % unit_;
        const std::int64_t bytes = std::min({unit_ - within, segment.bytes - done_, room});
        if (add(result[static_cast<std::size_t>(stripe % count)],
                {stripe / count * unit_ + within, segment.data + done_, bytes}))
          --pieces;
        room -= bytes;
        done_ += bytes;
      }
    }
    return result;
  }

 private:
  /// Of each component in one round: enough for the disk, little enough that all disks get to work soon.
  static constexpr std::int64_t kRoundBytes = std::int64_t{4} << 20;
  static constexpr std::size_t kRoundPieces = 1024;

  /// Returns whether the piece is a new one, rather than the rest of the one before.
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
  std::size_t at_ = 0;
  std::int64_t done_ = 0;
};

}  // namespace plait::store::stripe
